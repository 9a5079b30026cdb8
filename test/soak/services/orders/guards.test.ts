// Every lock as a guard of the clean-up, on its own real servers. What one of each kind does in every case: npm test.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { sharedZookeeper } from '../../../own-stack.ts';
import { startRedis, type TestNode, type TestRedis } from '../../../services/inventory/node-under-test.ts';
import { openShop, type Shop } from '../../../services/inventory/orders/own-shop.ts';
import { makeDue, setJobLock, startTick, tick, UNITS_IN_STOCK } from '../../../services/inventory/orders/own-ticks.ts';

/** Those that let one node in at a time. */
const locks = [
  ...['2-recursive-retry', '3-spin', '4-ttl', '5-owner-check', '6-lua-release', '7-reentrant', '8-auto-renew'],
  ...['blocking', 'fair', 'cohort', 'fenced', 'redlock', 'mysql-lock-table', 'mysql-named', 'zookeeper'],
];
const ORDERS = 10;

let shop: Shop;
let masters: TestRedis[];
let node: TestNode;
let other: TestNode;
beforeAll(async () => {
  shop = await openShop();
  masters = await Promise.all([startRedis(), startRedis(), startRedis()]);
  const env = { ZOOKEEPER_URL: await sharedZookeeper(), REDLOCK_URLS: masters.map(({ url }) => url).join() };
  [node, other] = await Promise.all([shop.openNode(env), shop.openNode(env)]);
  // They have the tables then.
  await node.get('/orders');
});
beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply', 'tb_dead_letter'])
    await shop.query(`DELETE FROM ${table}`);
  await shop.redis.client.flushall();
});

test.each(locks)('%s: both nodes tick, the second is skipped, and each order is restored once', async (guard) => {
  await setJobLock([node, other], guard);
  await makeDue(shop, node, 'double', ORDERS);
  const first = await startTick(node, 'read');
  const second = await tick(other);
  await first.resume();

  expect(await first.result).toMatchObject({ outcome: 'ran', guard, due: ORDERS, closed: ORDERS, restored: ORDERS });
  expect(second).toMatchObject({ outcome: 'skipped', guard, due: 0, closed: 0, restored: 0 });
  expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + ORDERS);
  // The lock is free again.
  expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 0 });
  for (const { client } of [shop.redis, ...masters])
    expect(await client.exists(`{job:order-cleanup}:lock:${guard}`)).toBe(0);
});
