import type { Logger } from 'pino';
import type { SaleService } from './sale/sale-service.ts';
import type { SaleServiceParts } from './sale/sale-service-parts.ts';
import type { NodeServers } from './servers/servers.ts';
import type { InventorySettings } from './settings/settings.ts';

/** What a node is made of. What is built on top takes of it what it needs. */
export interface NodeParts extends SaleServiceParts {
  settings: InventorySettings;
  servers: NodeServers;
  log: Logger;
  sales: SaleService;
  isStopping: () => boolean;
}
