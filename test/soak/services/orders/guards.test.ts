// What every guard of the clean-up does when both nodes tick, when a node dies half way, and when its lease has run out.

import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TickResult } from '../../../../services/inventory/lab/contract.ts';
import { startRedis, type TestNode, type TestRedis, until } from '../../../services/inventory/node-under-test.ts';
import { openShop, type Shop } from '../../../services/inventory/orders/own-shop.ts';
import {
  countOrders,
  makeDue,
  setJobLock,
  startTick,
  tick,
  UNITS_IN_STOCK,
} from '../../../services/inventory/orders/own-ticks.ts';
import { sharedZookeeper } from '../../../stack.ts';

/** Those that let one node in at a time. */
const locks = [
  ...['2-recursive-retry', '3-spin', '4-ttl', '5-owner-check', '6-lua-release', '7-reentrant', '8-auto-renew'],
  ...['blocking', 'fair', 'cohort', 'fenced', 'redlock', 'mysql-lock-table', 'mysql-named', 'zookeeper'],
];
const ORDERS = 10;
const leaseMs = 600;

let shop: Shop;
let zookeeper: string;
let masters: TestRedis[];
let env: NodeJS.ProcessEnv;
let node: TestNode;
let other: TestNode;
/** Its lease is short, as that of the next one. */
let survivor: TestNode;
/** It is slow where a test wants it so, and is not killed. */
let slow: TestNode;

beforeAll(async () => {
  shop = await openShop();
  zookeeper = await sharedZookeeper();
  masters = await Promise.all([startRedis(), startRedis(), startRedis()]);
  env = { ZOOKEEPER_URL: zookeeper, REDLOCK_URLS: masters.map(({ url }) => url).join() };
  [node, other] = await Promise.all([shop.openNode(env), shop.openNode(env)]);
  env = { ...env, JOB_LEASE_MS: String(leaseMs) };
  [survivor, slow] = await Promise.all([shop.openNode(env), shop.openNode(env)]);
  // They have the tables then.
  for (const each of [node, survivor, slow]) await each.get('/orders');
});

beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply']) await shop.query(`DELETE FROM ${table}`);
  await shop.redis.client.flushall();
});

const lockKey = (guard: string) => `{job:order-cleanup}:lock:${guard}`;

/** How many connections ZooKeeper has, this question's own among them. */
async function connectionsOf(url: string) {
  const { hostname, port } = new URL(`tcp://${url}`);
  const socket = connect(Number(port), hostname);
  socket.write('srvr');
  return Number(/Connections: (\d+)/.exec(await text(socket))?.[1]);
}

/** Both nodes tick on the same orders: the second reads before the first restores anything, if its guard lets it in. */
async function bothTick() {
  const first = await startTick(node, 'read');
  const second = await startTick(other, 'read');
  await first.resume();
  const results = [await first.result];
  await second.resume();
  results.push(await second.result);
  return results;
}

/** Ticks until it is not skipped any more. */
async function tickWhenFree(node: TestNode): Promise<TickResult> {
  let result = await tick(node);
  await until('the lock is free', async () => {
    if (result.outcome === 'skipped') result = await tick(node);
    return result.outcome !== 'skipped';
  });
  return result;
}

describe('both nodes tick on the same 100 orders', () => {
  test.each(locks)('%s: the second is skipped, and each order is restored once', async (guard) => {
    await setJobLock([node, other], guard);
    await makeDue(shop, node, 'double', 100);

    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', guard, due: 100, closed: 100, restored: 100 },
      { outcome: 'skipped', guard, due: 0, closed: 0, restored: 0 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 100);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 100 });
    // The lock is free again.
    expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 0 });
    for (const { client } of [shop.redis, ...masters]) {
      expect(await client.exists(`{job:order-cleanup}:lock:${guard}`)).toBe(0);
    }
  });
});

describe('the minimum hold', () => {
  test.each(['4-ttl', '8-auto-renew', 'mysql-lock-table', 'zookeeper'])(
    '%s: a tick that was quick keeps the lock, so the late schedule of the other node is skipped',
    async (guard) => {
      await setJobLock([node, other], guard, { minHoldMs: 1_000, leaseMs: 5_000 });
      await makeDue(shop, node, 'quick', 1);
      const startedAt = performance.now();

      const quick = tick(node);
      await until('it is done', async () => (await countOrders(shop, 'quick')).CLOSED === 1);
      const late = await tick(other);
      const isEarly = performance.now() - startedAt < 1_000;

      expect([isEarly, late.outcome]).toEqual([true, 'skipped']);
      expect(await quick).toMatchObject({ outcome: 'ran', restored: 1 });
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(950);
      await setJobLock([other], guard, { leaseMs: 5_000 });
      expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0 });
    },
  );
});

test('zookeeper: the session of a lease that is no longer used ends with the tick', async () => {
  await setJobLock([node], 'zookeeper', { leaseMs: 20_000 });
  await tick(node);
  const before = await connectionsOf(zookeeper);

  for (const leaseMs of [21_000, 22_000]) {
    await setJobLock([node], 'zookeeper', { leaseMs });
    expect(await tick(node)).toMatchObject({ outcome: 'ran' });
  }

  await until('one session is left', async () => (await connectionsOf(zookeeper)) === before);
});

describe('a node is killed half way', () => {
  async function killHalfWay(guard: string, after: 'restored' | 'closed', lock = '8-auto-renew') {
    const doomed = await shop.openNode({ ...env, JOB_LOCK: guard, LOCK_VERSION: lock });
    await survivor.lab('PUT', '/lock-version', { version: lock });
    await setJobLock([survivor], guard);
    await makeDue(shop, survivor, 'crash', ORDERS, lock);
    const { result, isHeld } = await startTick(doomed, after, 5);
    expect(isHeld).toBe(true);
    doomed.signal('SIGKILL');
    await doomed.part.ended;
    await expect(result).rejects.toThrow();
  }

  const inStock = async () => (await survivor.get('/inventory?sku=crash')).body.remaining;

  test.each(['in-process', '8-auto-renew', 'mysql-lock-table', 'zookeeper'])(
    '%s, between restored and closed: the next tick restores that order again, so a unit comes back twice',
    async (guard) => {
      await killHalfWay(guard, 'restored');
      // As the end of its lease does, of those that are in Redis.
      await shop.redis.client.del(lockKey(guard));

      expect(await tickWhenFree(survivor)).toMatchObject({ outcome: 'ran', due: 6, closed: 6, restored: 6 });

      expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS + 1);
      expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: ORDERS });
      expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: -1 });
    },
  );

  test.each(['4-ttl', 'mysql-lock-table', 'zookeeper'])(
    '%s, between two orders: the next tick does the rest, and each order is restored once',
    async (guard) => {
      await killHalfWay(guard, 'closed');

      expect(await tickWhenFree(survivor)).toMatchObject({ outcome: 'ran', due: 5, closed: 5, restored: 5 });

      expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS);
      expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
    },
  );
});

describe('a tick outlives its lease', () => {
  /** `slow` has closed 4 of its orders when its lease has run out, if it has one, and the survivor ticks. */
  async function outliveLease(guard: string, waitForEnd: () => Promise<unknown>) {
    await survivor.lab('PUT', '/lock-version', { version: '8' });
    await setJobLock([survivor, slow], guard);
    await makeDue(shop, survivor, 'lease', ORDERS);
    const { result, resume } = await startTick(slow, 'closed', 4);
    await waitForEnd();
    const second = await tick(survivor);
    await resume();
    return { first: await result, second };
  }

  test.each(['4-ttl', '7-reentrant'])(
    '%s: the other node takes over, and the first goes on: the orders that were left are restored twice',
    async (guard) => {
      const hasEnded = async () => (await shop.redis.client.exists(lockKey(guard))) === 0;
      const { first, second } = await outliveLease(guard, () => until('the lease has ended', hasEnded));

      const all = { due: ORDERS, closed: ORDERS, restored: ORDERS };
      expect(second).toMatchObject({ outcome: 'ran', due: 6, closed: 6, restored: 6 });
      expect(first).toMatchObject({ outcome: 'failed', code: 'LOCK_NOT_HELD', ...all });
      expect(await shop.stockOf('lease')).toBe(UNITS_IN_STOCK + ORDERS + 6);
    },
  );

  test.each(['3-spin', '8-auto-renew', 'mysql-lock-table', 'zookeeper'])(
    '%s: the lock is held as long as the tick goes on, and the other node is skipped',
    async (guard) => {
      const hasLease = guard !== '3-spin';
      const { first, second } = await outliveLease(guard, () => sleep(hasLease ? 2 * leaseMs : 0));

      expect(second).toMatchObject({ outcome: 'skipped' });
      expect(first).toMatchObject({ outcome: 'ran', closed: ORDERS, restored: ORDERS });
      expect(await shop.stockOf('lease')).toBe(UNITS_IN_STOCK + ORDERS);
    },
  );

  test.each([
    ['8-auto-renew', ORDERS],
    ['zookeeper', 4],
    ['conditional', 4],
  ])('%s, and the process is stopped meanwhile: it wakes up and closes %i in all', async (guard, closed) => {
    await survivor.lab('PUT', '/lock-version', { version: '8' });
    const paused = await shop.openNode({ ...env, JOB_LOCK: guard });
    await setJobLock([survivor], guard);
    await makeDue(shop, survivor, 'paused', ORDERS);
    const { result, resume } = await startTick(paused, 'closed', 4);

    paused.signal('SIGSTOP');
    const second = await tickWhenFree(survivor);
    paused.signal('SIGCONT');
    if (guard !== 'conditional') {
      await until('it has noticed', () => paused.lines.some((line) => line.includes('a tick lost its lock')));
    }
    await resume();

    const first = await result;
    expect(second).toMatchObject({ outcome: 'ran', closed: 6 });
    expect(first).toMatchObject({ closed });
    const isOnce = guard !== '8-auto-renew';
    expect(await shop.stockOf('paused')).toBe(UNITS_IN_STOCK + (isOnce ? ORDERS : ORDERS + 6));
  });
});

describe('a node is asked to stop', () => {
  test.each(['8-auto-renew', 'mysql-lock-table', 'zookeeper', 'conditional'])(
    '%s: it ends with the order it is at, gives the lock up, and the other node does the rest',
    async (guard) => {
      const stopping = await shop.openNode({
        ...env,
        JOB_LOCK: guard,
        JOB_LEASE_MS: '60000',
        JOB_MIN_HOLD_MS: '50000',
      });
      await setJobLock([survivor], guard, { leaseMs: 60_000 });
      await makeDue(shop, survivor, 'stop', 10);
      const { result } = await startTick(stopping, 'closed', 4);

      stopping.signal('SIGTERM');
      expect(await result).toMatchObject({ outcome: 'failed', code: 'SHUTTING_DOWN', closed: 4 });
      await stopping.part.ended;

      expect(await tick(survivor)).toMatchObject({ outcome: 'ran', closed: 6 });
      expect(await shop.stockOf('stop')).toBe(UNITS_IN_STOCK + 10);
      expect(await countOrders(shop, 'stop')).toEqual({ CLOSED: 10 });
    },
  );
});
