import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';
import type { SaleService } from './sale-service.ts';
import type { NodeServers } from './servers.ts';
import type { InventorySettings } from './settings.ts';
import type { Store } from './store.ts';

/** What a node is made of. What is built on top takes of it what it needs. */
export interface NodeParts {
  settings: InventorySettings;
  /** Its name. */
  node: string;
  store: Store;
  servers: NodeServers;
  sales: SaleService;
  metrics: Metrics;
  log: Logger;
  isStopping: () => boolean;
}
