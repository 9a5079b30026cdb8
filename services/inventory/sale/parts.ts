import type { Logger } from 'pino';
import type { Registry } from '../../../locks/strategy.ts';
import type { NodeServers } from '../servers/servers.ts';
import type { Stock, Store } from '../servers/store.ts';
import type { InventorySettings } from '../settings/settings.ts';
import type { History } from './history.ts';
import type { Metrics } from './metrics.ts';
import type { TwoStores } from './stores/index.ts';

/** The parts of a node's sale service. */
export interface SaleServiceParts {
  /**
   * The registry of the locks. It is passed in, because the simulation runs the sales with a single lock and without the other
   * locks' drivers.
   */
  registry: Registry;
  settings: Pick<
    InventorySettings,
    'PORT' | 'LOCK_VERSION' | 'LOCK_SCOPE' | 'LEASE_MS' | 'RETRY_DELAY_MS' | 'WAIT_TIMEOUT_MS' | 'PERMITS'
  > &
    Partial<Pick<InventorySettings, 'RENEW_EVERY_MS' | 'FIXED_LEASE_MS'>>;
  node: string;
  store: Store;
  /** Set if the stock is in both MySQL and Redis. */
  twoStores?: TwoStores | undefined;
  servers: Pick<NodeServers, 'forLock' | 'mustServe' | 'sendTogether'> & { stockInMysql(): Stock };
  history: History;
  metrics: Metrics;
  log: Pick<Logger, 'warn' | 'info' | 'debug'>;
}
