// Units that are put back: under the lock of a sale, or alone, in one step, where a sale needs no lock.

import { randomUUID } from 'node:crypto';
import type { CreateLock } from '../../locks/lock.ts';
import type { Registry } from '../../locks/strategy.ts';
import type { Holder, Holders } from './holder.ts';
import { ProblemError } from './problem.ts';
import { putBack, restoreAlone } from './sale.ts';
import type { Stock, Store } from './store.ts';

export interface PutBackParts {
  registry: Registry;
  store: Pick<Store, 'restoreOnce'>;
  /** Where sales take their units from now. */
  stock: () => Stock;
  holders: Holders;
}

export function createPutBack({ registry, store, stock, holders }: PutBackParts) {
  let underWay = 0;

  /**
   * Puts units back into the stock as a sale takes them out: under its lock, or alone, in one step, where a sale needs none. Rejects
   * with ProblemError, definite when the stock is as it was.
   */
  function giveBack(sku: string, units: number): Promise<void> {
    return puttingBack(async (holder, createLock) => {
      if (createLock) return putBack({ ...holder.under(createLock, sku), units });
      holder.emit('writing');
      const isThere = await holder.noteRefusal(stock().addStock(sku, units));
      if (!isThere) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
    });
  }

  /**
   * Puts the units of orders back into the stock in Redis, all under one lock, each unless that was done before. Resolves with how that
   * ended for each, in their order: whether its units were put there now, or why nobody knows. Rejects as `giveBack` does.
   */
  function giveBackOrders(sku: string, orders: { id: string; quantity: number }[]) {
    return puttingBack((holder, createLock) => {
      const restore = (token?: string) =>
        Promise.allSettled(
          orders.map(({ id, quantity }) =>
            holder.noteRefusal(store.restoreOnce(sku, quantity, id, holder.fenceOf(token))),
          ),
        );
      return createLock ? restoreAlone({ ...holder.under(createLock, sku), restore }) : restore();
    });
  }

  /** Has units put back: under the lock of a sale, where it has one. */
  async function puttingBack<T>(way: (holder: Holder, createLock?: CreateLock) => Promise<T>): Promise<T> {
    const holder = holders.open(`back:${randomUUID()}`);
    const strategy = registry.strategyNamed(holder.lock);
    const createLock = 'createLock' in strategy ? strategy.createLock : undefined;
    underWay += 1;
    return holder
      .does(() => way(holder, createLock))
      .finally(() => {
        underWay -= 1;
      });
  }

  return { giveBack, giveBackOrders, isBusy: () => underWay > 0 };
}
