// The stock in both MySQL and Redis: what sales and the admin API do with it, in the way that STOCK_CACHE names.

import type { FencedStock } from '../../../../locks/lock.ts';
import { ProblemError } from '../../problem.ts';
import type { NodeServers } from '../../servers/servers.ts';
import { type Stock, type Store, stockKey } from '../../servers/store.ts';
import type { InventorySettings } from '../../settings/settings.ts';
import { openStock as cacheAside } from './cache-aside.ts';
import { openStock as databaseDecides } from './database-decides.ts';
import { openStock as doubleDelete } from './double-delete.ts';
import type { Cache, OpenStock } from './stores.ts';
import { openStock as writeThrough } from './write-through.ts';

/** Every way by name, in the order of the lesson. The name is also that of its file. */
export const ways: Record<Exclude<InventorySettings['STOCK_CACHE'], 'off'>, OpenStock> = {
  'write-through': writeThrough,
  'cache-aside': cacheAside,
  'double-delete': doubleDelete,
  'database-decides': databaseDecides,
};

/** The stock of all skus, and of one sku as a sale reads and writes it. */
export type TwoStores = Stock & { stockOf(sku: string): FencedStock };

/** Undefined if the stock is in one store. */
export function openTwoStores(
  { STOCK_CACHE: way, STOCK_DELETE_AGAIN_MS: delayMs }: InventorySettings,
  store: Store,
  servers: NodeServers,
): TwoStores | undefined {
  if (way === 'off') return undefined;
  const mysql = servers.stockInMysql();
  const redis = store.inBuckets(1);

  function stockOf(sku: string): FencedStock {
    let isInMysql = false;
    const writes = <T>(written: Promise<T>) => written.finally(() => (isInMysql = true));
    const key = store.bucketOf(sku, '');
    const cache: Cache = {
      read: () => key.read(undefined),
      write: async (stock) => void (await key.write(stock, undefined)),
      delete: async () => void (await store.redis.del(stockKey(sku))),
    };
    const database = {
      read: () => mysql.readStock(sku),
      write: (stock: number) => writes(mysql.writeStock(sku, stock)),
      takeOne: () => writes(mysql.takeOne(sku)),
    };
    const later = (act: () => Promise<void>) => void setTimeout(() => act().catch(() => {}), delayMs).unref();
    const { look, take } = ways[way as keyof typeof ways]({ database, cache, later });
    return {
      read: look,
      write: (remaining) =>
        take(remaining + 1).catch((cause) => {
          // Redis may have refused its part: the unit may be taken in MySQL all the same.
          if (cause instanceof ProblemError || !isInMysql) throw cause;
          const detail = 'The unit may have been taken: the sale ended between MySQL and Redis, which may now differ.';
          throw new ProblemError('STORE_UNAVAILABLE', detail, { definite: false, cause });
        }),
    };
  }

  async function inBoth(does: (stock: Stock) => Promise<void>) {
    await does(mysql);
    await does(redis);
  }

  return {
    stockOf,
    readStock: (sku) => stockOf(sku).read(undefined),
    writeStock: (sku, units) => inBoth((stock) => stock.writeStock(sku, units)),
    addStock: async (sku, units) => (await mysql.addStock(sku, units)) && redis.addStock(sku, units),
    restock: (sku, units) => inBoth((stock) => stock.restock(sku, units)),
    deleteStock: (sku) => inBoth((stock) => stock.deleteStock(sku)),
  };
}
