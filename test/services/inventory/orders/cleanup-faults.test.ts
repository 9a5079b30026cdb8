// What becomes of a tick whose node dies, is slow or stops, or whose server is away. The other guards are in test/soak.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Link, openLink } from '../../../../scripts/link/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { sharedZookeeper } from '../../../stack.ts';
import { type TestNode, until } from '../node-under-test.ts';
import { openShop, type Shop } from './own-shop.ts';
import { countOrders, makeDue, setJobLock, startTick, tick, UNITS_IN_STOCK } from './own-ticks.ts';

const ORDERS = 10;

let shop: Shop;
let node: TestNode;
/** It reaches each server by a link. */
let far: TestNode;
let links: Record<'Redis' | 'MySQL' | 'ZooKeeper', Link>;

beforeAll(async () => {
  shop = await openShop();
  const [Redis, MySQL, ZooKeeper] = await Promise.all(
    [shop.redis.url, shop.url, `zookeeper://${await sharedZookeeper()}`].map(openLink),
  );
  links = { Redis, MySQL, ZooKeeper } as typeof links;
  for (const { close } of Object.values(links)) cleanUpLater(close);
  const env = {
    REDIS_URL: links.Redis.url,
    MYSQL_URL: links.MySQL.url,
    ZOOKEEPER_URL: links.ZooKeeper.url.replace('zookeeper://', ''),
  };
  [node, far] = await Promise.all([shop.openNode(), shop.openNode(env)]);
  // They have the tables then.
  for (const each of [node, far]) await each.get('/orders');
});

beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply', 'tb_dead_letter'])
    await shop.query(`DELETE FROM ${table}`);
  await shop.redis.client.flushall();
});

/** As the end of its lease does. */
const endLease = (guard: string) => shop.redis.client.del(`{job:order-cleanup}:lock:${guard}`);

describe('a node is killed half way', () => {
  async function killHalfWay(guard: string, after: 'restored' | 'closed', lock = '8-auto-renew') {
    const doomed = await shop.openNode({ JOB_LOCK: guard, LOCK_VERSION: lock });
    await node.lab('PUT', '/lock-version', { version: lock });
    await setJobLock([node], guard);
    await makeDue(shop, node, 'crash', ORDERS, lock);
    const { isHeld } = await startTick(doomed, after, 5);
    expect(isHeld).toBe(true);
    doomed.signal('SIGKILL');
    await doomed.part.ended;
    await endLease(guard);
  }

  const inStock = async () => (await node.get('/inventory?sku=crash')).body.remaining;

  test('8-auto-renew, between restored and closed: the next tick restores that order again, so a unit comes back twice', async () => {
    await killHalfWay('8-auto-renew', 'restored');

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 6, closed: 6, restored: 6 });

    expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS + 1);
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: -1 });
  });

  test('conditional, when a unit was restored and that was not written down: Redis knows, and each order is restored once', async () => {
    await killHalfWay('conditional', 'restored');
    expect(await countOrders(shop, 'crash')).toEqual({ 'CLOSED and not restored': ORDERS });
    expect(await inStock()).toBe(UNITS_IN_STOCK + 5);

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 5 });

    expect(await inStock()).toBe(UNITS_IN_STOCK + ORDERS);
    expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: ORDERS });
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  });
});

test('a node is asked to stop: it ends with the order it is at, gives the lock up, and the other node does the rest', async () => {
  const stopping = await shop.openNode({ JOB_LOCK: '8', JOB_LEASE_MS: '60000', JOB_MIN_HOLD_MS: '50000' });
  await setJobLock([node], '8');
  await makeDue(shop, node, 'stop', ORDERS);
  const { result } = await startTick(stopping, 'closed', 4);

  stopping.signal('SIGTERM');
  expect(await result).toMatchObject({ outcome: 'failed', code: 'SHUTTING_DOWN', closed: 4 });
  await stopping.part.ended;

  expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 6 });
  expect(await shop.stockOf('stop')).toBe(UNITS_IN_STOCK + ORDERS);
});

describe('a server is away', () => {
  test.each([
    ['Redis', '8-auto-renew'],
    ['MySQL', 'conditional'],
    ['ZooKeeper', 'zookeeper'],
  ] as const)('a tick says that it is %s, under %s, and a later one does all that is due', async (server, guard) => {
    await makeDue(shop, node, 'away', 3);
    await setJobLock([far], guard, { leaseMs: 2_000 });
    links[server].cut('silent');

    const result = await tick(far);
    links[server].restore();

    expect(result).toMatchObject({
      outcome: 'failed',
      code: 'STORE_UNAVAILABLE',
      detail: expect.stringMatching(`^${server} `),
      restored: 0,
    });
    await until('a tick does it', async () => (await tick(far)).outcome === 'ran');
    expect(await shop.stockOf('away')).toBe(UNITS_IN_STOCK + 3);
    expect(await countOrders(shop, 'away')).toEqual({ CLOSED: 3 });
    expect(far.lines.filter((line) => line.includes('a bug'))).toEqual([]);
  });
});
