import type { Logger } from 'pino';
import type { SaleService } from './sale-service.ts';
import type { SaleServiceParts } from './sale-service-parts.ts';
import type { NodeServers } from './servers.ts';
import type { InventorySettings } from './settings.ts';

/** What a node is made of. What is built on top takes of it what it needs. */
export interface NodeParts extends SaleServiceParts {
  settings: InventorySettings;
  servers: NodeServers;
  log: Logger;
  sales: SaleService;
  isStopping: () => boolean;
}
