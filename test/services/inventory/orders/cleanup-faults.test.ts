import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TickResult } from '../../../../services/inventory/lab/contract.ts';
import { sharedZookeeper } from '../../../stack.ts';
import { startLink, type TestNode, until } from '../node-under-test.ts';
import { openShop, type Shop } from './own-shop.ts';
import { countOrders, makeDue, setJobLock, startTick, tick, UNITS_IN_STOCK } from './own-ticks.ts';

/** So few, because most of these tests wait for a lease besides. The drills have 100. */
const ORDERS = 10;
const leaseMs = 600;

let shop: Shop;
let env: NodeJS.ProcessEnv;
let survivor: TestNode;
/** It is slow where a test wants it so, and is not killed. */
let slow: TestNode;

beforeAll(async () => {
  shop = await openShop();
  env = { ZOOKEEPER_URL: await sharedZookeeper(), JOB_LEASE_MS: String(leaseMs) };
  [survivor, slow] = await Promise.all([shop.openNode(env), shop.openNode(env)]);
  // They have the tables then.
  for (const node of [survivor, slow]) await node.get('/orders');
});

beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply']) await shop.query(`DELETE FROM ${table}`);
  await shop.redis.client.flushall();
});

const lockKey = (guard: string) => `{job:order-cleanup}:lock:${guard}`;

/** Ticks until it is not skipped any more. */
async function tickWhenFree(node: TestNode): Promise<TickResult> {
  let result = await tick(node);
  await until('the lock is free', async () => {
    if (result.outcome === 'skipped') result = await tick(node);
    return result.outcome !== 'skipped';
  });
  return result;
}

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

  // The others are in test/soak.
  test.each(['8-auto-renew'])(
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

  test.each(['4-ttl'])(
    '%s, between two orders: the next tick does the rest, and each order is restored once',
    async (guard) => {
      await killHalfWay(guard, 'closed');

      expect(await tickWhenFree(survivor)).toMatchObject({ outcome: 'ran', due: 5, closed: 5, restored: 5 });

      expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS);
      expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
    },
  );

  test.each(['3-spin'])('%s: every tick is skipped from now on', async (guard) => {
    await killHalfWay(guard, 'closed');
    expect(await shop.redis.client.pttl(lockKey(guard))).toBe(-1);

    const results = [await tick(survivor), await tick(survivor)];

    expect(results).toMatchObject([{ outcome: 'skipped' }, { outcome: 'skipped' }]);
    expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: 5, UNPAID: 5 });
    expect(await inStock()).toBe(UNITS_IN_STOCK + 5);
  });

  test('conditional, when an order was closed: the next tick restores it too, and each order once', async () => {
    await killHalfWay('conditional', 'closed');
    expect(await countOrders(shop, 'crash')).toEqual({ 'CLOSED and not restored': 5, UNPAID: 5 });
    expect(await shop.accountOf('crash')).toMatchObject({ owed: 5, inDoubt: 5, unexplained: 0 });

    expect(await tick(survivor)).toMatchObject({ outcome: 'ran', due: 5, closed: 5, restored: ORDERS });

    expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS);
    expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: ORDERS });
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  });

  test('conditional, when a unit was restored and that was not written down: Redis knows, and each order is restored once', async () => {
    await killHalfWay('conditional', 'restored');
    expect(await countOrders(shop, 'crash')).toEqual({ 'CLOSED and not restored': ORDERS });
    expect(await inStock()).toBe(UNITS_IN_STOCK + 5);

    expect(await tick(survivor)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 5 });

    expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS);
    expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: ORDERS });
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  });

  test('conditional, stock in MySQL: each order is restored once', async () => {
    await killHalfWay('conditional', 'closed', 'mysql-conditional');
    expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: 5, UNPAID: 5 });
    expect(await inStock()).toBe(UNITS_IN_STOCK + 5);

    expect(await tick(survivor)).toMatchObject({ outcome: 'ran', due: 5, closed: 5, restored: 5 });

    expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS);
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  });

  test('conditional, stock in MySQL, inside the transaction: neither half of it has happened', async () => {
    const lock = 'mysql-conditional';
    const doomed = await shop.openNode({ ...env, LOCK_VERSION: lock });
    await setJobLock([survivor], 'conditional');
    await makeDue(shop, doomed, 'half', 3, lock);
    const holder = await shop.connect();
    await holder.query('START TRANSACTION');
    await holder.query("SELECT * FROM tb_stock WHERE sku = 'half' FOR UPDATE");
    const result = tick(doomed);
    result.catch(() => {});
    await until('it waits to restore', async () => (await shop.waiting('INSERT INTO tb_stock')) === 1);

    doomed.signal('SIGKILL');
    await doomed.part.ended;
    await holder.query('ROLLBACK');

    await until('MySQL has noticed', async () => (await shop.running('INSERT INTO tb_stock')) === 0);
    expect(await tickWhenClosed()).toMatchObject({ outcome: 'ran', closed: 3, restored: 3 });
    const [row] = await shop.query("SELECT stock FROM tb_stock WHERE sku = 'half'");
    expect(row?.stock).toBe(UNITS_IN_STOCK + 3);
  });

  /** MySQL may still be about to roll back what the dead node had begun. */
  async function tickWhenClosed() {
    await until('the row is free', async () => (await countOrders(shop, 'half')).UNPAID === 3);
    return tick(survivor);
  }
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

  test.each(['4-ttl'])(
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

  test('8-auto-renew: the lease is renewed as long as the tick goes on, and the lock is gone when it has ended', async () => {
    const link = await startLink(shop.redis.url);
    const renewing = await shop.openNode({ REDIS_URL: link.url, JOB_LOCK: '8', JOB_LEASE_MS: '3000' });
    await setJobLock([survivor], '8');
    await makeDue(shop, survivor, 'renewed', 2);
    const { result, resume } = await startTick(renewing, 'closed');
    await until('the lease is renewed', () => (link.counters.commands.get('renew-if-owner') ?? 0) > 0);
    expect(await tick(survivor)).toMatchObject({ outcome: 'skipped' });
    await resume();

    expect(await result).toMatchObject({ outcome: 'ran', closed: 2 });
    expect(await shop.redis.client.exists(lockKey('8-auto-renew'))).toBe(0);
  });

  test('conditional: the other node does the rest, and the first finds nothing left to do', async () => {
    const { first, second } = await outliveLease('conditional', async () => {});

    expect(second).toMatchObject({ outcome: 'ran', due: 6, closed: 6, restored: ORDERS });
    expect(first).toMatchObject({ outcome: 'ran', due: ORDERS, closed: 4, restored: 0 });
    expect(await shop.stockOf('lease')).toBe(UNITS_IN_STOCK + ORDERS);
  });

  test.each([
    ['8-auto-renew', ORDERS],
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
  test.each(['8-auto-renew', 'conditional'])(
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

describe('a server is away', () => {
  test.each(['conditional'])(
    '%s: Redis does not answer: the tick fails, says so, and the next one does the rest',
    async (guard) => {
      const { node, toRedis } = await shop.openFarNode({ ...env, JOB_LOCK: guard });
      await makeDue(shop, survivor, 'frozen', 3);
      const { result, resume } = await startTick(node, 'closed', 1);
      toRedis.cut('silent');
      await resume();

      expect(await result).toMatchObject({ outcome: 'failed', code: expect.stringMatching(/^STORE_UNAVAILABLE$/) });
      toRedis.restore();
      await until('it is connected again', async () => (await node.get('/readyz')).status === 200);
      const next = await tickWhenFree(node);

      expect(next).toMatchObject({ outcome: 'ran' });
      expect(await countOrders(shop, 'frozen')).toEqual({ CLOSED: 3 });
      expect(await shop.stockOf('frozen')).toBe(UNITS_IN_STOCK + 3);
      expect(node.lines.filter((line) => line.includes('a bug'))).toEqual([]);
    },
  );

  test('MySQL does not answer: the tick fails, nothing is closed, and the next one closes everything', async () => {
    const { node, toMysql } = await shop.openFarNode();
    await makeDue(shop, survivor, 'still', 3);
    toMysql.cut('silent');

    const result = await tick(node);
    toMysql.restore();

    expect(result).toMatchObject({ outcome: 'failed', code: 'STORE_UNAVAILABLE', closed: 0, restored: 0 });
    expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 3, restored: 3 });
    expect(node.lines.filter((line) => line.includes('a bug'))).toEqual([]);
  });

  test.each([
    ['Redis', '8-auto-renew'],
    ['MySQL', 'conditional'],
    ['ZooKeeper', 'zookeeper'],
  ])('a tick says that it is %s, under %s', async (server, guard) => {
    const toZookeeper = await startLink(`zookeeper://${env['ZOOKEEPER_URL']}`);
    const { node, toRedis, toMysql } = await shop.openFarNode({
      JOB_LOCK: guard,
      ZOOKEEPER_URL: toZookeeper.url.replace('zookeeper://', ''),
    });
    expect(await tick(node)).toMatchObject({ outcome: 'ran' });

    ({ Redis: toRedis, MySQL: toMysql, ZooKeeper: toZookeeper })[server]?.cut('silent');

    expect(await tick(node)).toMatchObject({ outcome: 'failed', detail: `${server} does not answer.` });
  });
});
