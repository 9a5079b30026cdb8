// Each way to write two stores, and ways that only look right: on stores in memory, whose commands wait where a test says.

import { describe, expect, test } from 'vitest';
import { ways } from '../../../../services/inventory/sale/stores/index.ts';
import type { CachedStock, OpenStock, Stores } from '../../../../services/inventory/sale/stores/stores.ts';

const units = (stock: number | undefined) => stock ?? 0;

/** Both stores with so many units. `next` holds the next command of this name until it is called. */
function openStores(stock: number) {
  const state: { database: number; cache: number | undefined } = { database: stock, cache: stock };
  const holds = new Map<string, Promise<void>>();
  const later: (() => Promise<void>)[] = [];

  async function passes(command: string) {
    const hold = holds.get(command);
    holds.delete(command);
    await hold;
  }

  const stores: Stores = {
    database: {
      read: async () => state.database,
      async write(stock) {
        state.database = stock;
      },
      async takeOne() {
        if (state.database === 0) return undefined;
        state.database -= 1;
        return state.database;
      },
    },
    cache: {
      read: async () => state.cache,
      async write(stock) {
        await passes('write');
        state.cache = stock;
      },
      async delete() {
        await passes('delete');
        state.cache = undefined;
      },
    },
    later: (act) => void later.push(act),
  };

  return {
    state,
    stores,
    laterDeletes: () => Promise.all(later.splice(0).map((act) => act())),
    hold(command: 'write' | 'delete') {
      let letGo = () => {};
      holds.set(command, new Promise((resolve) => (letGo = resolve)));
      return letGo;
    },
  };
}

/** Resolves with what is left, undefined when there was nothing to buy. */
async function buy({ look, take }: CachedStock) {
  const found = units(await look());
  if (found === 0) return undefined;
  return take(found).catch((error) => {
    expect(error.code).toBe('OUT_OF_STOCK');
    return undefined;
  });
}

/** Whatever is ready to be done is done. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A reader misses the key before the sale, and fills Redis after as many of its deletes: what the next buyer of the last unit gets. */
async function fillLate(open: OpenStock, afterDeletes: 1 | 2) {
  const { state, stores, hold, laterDeletes } = openStores(1);
  const stock = open(stores);
  state.cache = undefined;
  const letFill = hold('write');
  const reads = stock.look();
  await settled();
  expect(await buy(stock)).toBe(0);
  if (afterDeletes === 2) await laterDeletes();
  letFill();
  await reads;
  await laterDeletes();
  return buy(stock);
}

describe.each(Object.entries(ways))('%s', (_way, open) => {
  test('sells what there is, one after the other, and both stores agree when all is done', async () => {
    const { state, stores, laterDeletes } = openStores(2);
    const stock = open(stores);

    expect([await buy(stock), await buy(stock), await buy(stock)]).toEqual([1, 0, undefined]);
    await laterDeletes();
    expect(state.database).toBe(0);
    expect(units(state.cache)).toBe(0);
  });
});

test('write-through: who looks between the two writes buys the unit once more; the lock must cover both', async () => {
  const { stores, hold } = openStores(1);
  const stock = ways['write-through'](stores);
  const letWrite = hold('write');
  const first = buy(stock);
  await settled();

  // A lock that is given up after the write of MySQL lets the next buyer in here.
  const second = buy(stock);
  letWrite();
  expect([await first, await second]).toEqual([0, 0]);
});

test('a reader that fills Redis late: cache-aside sells twice, double-delete when it is later still, database-decides never', async () => {
  const { 'cache-aside': aside, 'double-delete': twice, 'database-decides': decides } = ways;

  expect(await fillLate(aside, 1)).toBe(0);
  expect([await fillLate(twice, 1), await fillLate(twice, 2)]).toEqual([undefined, 0]);
  expect([await fillLate(decides, 1), await fillLate(decides, 2)]).toEqual([undefined, undefined]);
});

test('looks right and is not: to delete the key before the write lets a reader fill Redis between the two', async () => {
  const { state, stores } = openStores(1);
  const { database, cache } = stores;
  const { look } = ways['cache-aside'](stores);

  await cache.delete();
  await look();
  await database.write(0);

  expect(state).toEqual({ database: 0, cache: 1 });
});

test('looks wrong and is right: under database-decides Redis says 1 too many, each buyer is told what MySQL has left', async () => {
  const { state, stores } = openStores(2);
  const stock = ways['database-decides'](stores);
  state.cache = 3;

  expect(await buy(stock)).toBe(1);
  state.cache = 3;
  expect([await buy(stock), state.cache]).toEqual([0, undefined]);
  state.cache = 3;
  // The refusal deletes what was wrong.
  expect([await buy(stock), state.cache]).toEqual([undefined, undefined]);
});

test('database-decides: a hint of 0 is believed, and a buyer is sent away', async () => {
  const { state, stores } = openStores(1);
  state.cache = 0;

  expect(await buy(ways['database-decides'](stores))).toBeUndefined();
  expect(state.database).toBe(1);
});
