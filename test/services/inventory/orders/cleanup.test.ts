import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobSchedule } from '../../../../services/inventory/orders/contract.ts';
import { jobLockKey, lockOfGuard } from '../../../../services/inventory/orders/jobs/guards.ts';
import { type Link, openLink } from '../../../../stack/proxy/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { sharedZookeeper } from '../../../own-stack.ts';
import { expectProblem, refuseWrites, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';
import { countOrders, jobOf, makeDue, setJobLock, startTick, tick, UNITS_IN_STOCK } from './own-ticks.ts';

let shop: Shop;
/** It reaches each server by a link. */
let node: TestNode;
let other: TestNode;
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
  [node, other] = await Promise.all([shop.openNode(env), shop.openNode()]);
  // They have the tables then.
  for (const each of [node, other]) await each.get('/orders');
});

beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply', 'tb_dead_letter'])
    await shop.query(`DELETE FROM ${table}`);
  await shop.redis.client.flushall();
  await setJobLock([node, other], 'conditional');
  await setLock('8');
});

async function setLock(version: string) {
  for (const each of [node, other]) expect((await each.lab('PUT', '/lock-version', { version })).status).toBe(200);
}

describe('both nodes tick on the same 10 orders', () => {
  /** The second reads before the first restores anything, if its guard lets it in. */
  async function bothTick() {
    await makeDue(shop, node, 'double');
    const first = await startTick(node, 'read');
    const second = await startTick(other, 'read');
    await first.resume();
    const results = [await first.result];
    await second.resume();
    results.push(await second.result);
    return results;
  }

  const all = { outcome: 'ran', due: 10, closed: 10, restored: 10 };

  test.each([
    ['none: both restore them, so 20 units come back for 10', 'none', all, 20],
    ['8-auto-renew: the second is skipped', '8', { outcome: 'skipped', due: 0, closed: 0, restored: 0 }, 10],
    [
      'conditional: both read them, and each is closed and restored by one of them',
      'conditional',
      { ...all, closed: 0, restored: 0 },
      10,
    ],
  ])('%s', async (_what, guard, second, back) => {
    await setJobLock([node, other], guard);

    expect(await bothTick()).toMatchObject([
      { ...all, node: node.name },
      { ...second, node: other.name },
    ]);

    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + back);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 10 });
    expect(await shop.accountOf('double')).toMatchObject({ inDoubt: 0, unexplained: 10 - back });
    // A lock is free again.
    expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 0 });
  });
});

test('the minimum hold 8-auto-renew: a tick that was quick keeps the lock, so the late one of the other node is skipped', async () => {
  const keeping = await shop.openNode({ JOB_LOCK: '8', JOB_LEASE_MS: '600000', JOB_MIN_HOLD_MS: '500000' });
  await setJobLock([other], '8');
  await makeDue(shop, node, 'quick', 1);

  const quick = tick(keeping);
  await until('it is done', async () => (await countOrders(shop, 'quick')).CLOSED === 1);
  expect(await tick(other)).toMatchObject({ outcome: 'skipped' });

  // A node that stops keeps no lock.
  keeping.signal('SIGTERM');
  expect(await quick).toMatchObject({ outcome: 'ran', restored: 1 });
  await keeping.part.ended;
  expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0 });
});

describe('which orders are closed', () => {
  test.each(['none', 'conditional'])(
    '%s: a customer pays when the order was read and not yet closed: only conditional looks again',
    async (guard) => {
      await setJobLock([node], guard);
      const [id] = await makeDue(shop, node, 'paid', 1);
      const { result, resume } = await startTick(node, 'read');
      expect((await post(other, `/orders/${id}/pay`)).body).toMatchObject({ status: 'PAID' });
      await resume();

      const isKept = guard === 'conditional';
      expect(await result).toMatchObject({ outcome: 'ran', due: 1, closed: isKept ? 0 : 1, restored: isKept ? 0 : 1 });
      expect((await node.get(`/orders/${id}`)).body).toMatchObject({ status: isKept ? 'PAID' : 'CLOSED' });
      expect(await shop.stockOf('paid')).toBe(UNITS_IN_STOCK + (isKept ? 0 : 1));
    },
  );

  test('only orders that are due and UNPAID are closed, the longest due first', async () => {
    await makeDue(shop, node, 'due', 3);
    await supply(node, 'new', 5);
    const [paid, unpaid] = [await buy(node, 'new'), await buy(node, 'new')];
    await post(node, `/orders/${paid.id}/pay`);
    const due = 'UPDATE tb_order SET due_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = ?';
    await shop.query(due, [paid.id]);

    const { result, resume } = await startTick(node, 'closed', 1);
    const [first] = await shop.query("SELECT sale_id FROM tb_order WHERE status = 'CLOSED'");
    await resume();

    expect(first?.sale_id).toBe('0');
    expect(await result).toMatchObject({ due: 3, closed: 3, restored: 3 });
    expect((await node.get(`/orders/${paid.id}`)).body.status).toBe('PAID');
    expect((await node.get(`/orders/${unpaid.id}`)).body.status).toBe('UNPAID');
  });

  test('conditional: an order that can’t be restored does not keep the tick from those of other skus', async () => {
    await makeDue(shop, node, 'broken', 2);
    await makeDue(shop, node, 'whole', 3);
    await shop.redis.client.set('{inventorybroken}:stock', 'many');

    for (const restored of [3, 0]) {
      expect(await tick(node)).toMatchObject({ outcome: 'failed', code: 'DATA_UNREADABLE', restored });
    }
    expect(await countOrders(shop, 'broken')).toEqual({ 'CLOSED and not restored': 2 });
    expect(await shop.stockOf('whole')).toBe(UNITS_IN_STOCK + 3);

    await shop.redis.client.set('{inventorybroken}:stock', UNITS_IN_STOCK);
    expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 2 });
  });
});

test.each(['8-auto-renew', 'conditional'])(
  '%s: an order that can never be done is put aside after 5 tries, with the reason, until its stock is counted anew',
  async (guard) => {
    await setJobLock([node], guard);
    const [id] = await makeDue(shop, node, 'dead', 1);
    await shop.redis.client.set('{inventorydead}:stock', 'many');

    for (let tries = 1; tries <= 5; tries += 1) expect(await tick(node)).toMatchObject({ outcome: 'failed' });

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 0, restored: 0 });
    const letters = () => shop.query('SELECT order_id, tries, reason FROM tb_dead_letter');
    expect(await letters()).toEqual([
      { order_id: id, tries: 5, reason: expect.stringMatching(/does not hold a whole|not an integer/) },
    ]);
    expect((await shop.reconcile()).stdout).toContain(`${id}  `);
    await supply(node, 'dead', 5);
    expect(await letters()).toEqual([]);
  },
);

test('conditional: units come back to the stock that each came from', async () => {
  await setLock('fenced');
  await makeDue(shop, node, 'both', 2, '4-ttl');
  await shop.query("INSERT INTO tb_stock (sku, stock) VALUES ('both', 7)");
  await shop.query("UPDATE tb_order SET lock_name = 'mysql-pessimistic' WHERE sale_id = '0'");

  expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 2, restored: 2 });

  expect(await shop.stockOf('both')).toBe(UNITS_IN_STOCK + 1);
  expect(await shop.query("SELECT stock FROM tb_stock WHERE sku = 'both'")).toMatchObject([{ stock: 8 }]);
});

test.each([
  ['counted anew', 5],
  ['deleted', 0],
])(
  'conditional: a tick is held after as many as its script says, and gives nothing to a sku that is %s meanwhile',
  async (_what, stock) => {
    const skus = ['one', 'two'];
    for (const sku of skus) await makeDue(shop, node, sku, 2);
    const { result, resume } = await startTick(node, 'restored', 3);
    const back = await Promise.all(skus.map(async (sku) => (await shop.stockOf(sku)) - UNITS_IN_STOCK));
    expect(back.toSorted()).toEqual([1, 2]);
    const half = skus[back.indexOf(1)] as string;

    await (stock > 0 ? supply(other, half, stock) : other.lab('DELETE', `/stock?sku=${half}`));
    await resume();

    expect(await result).toMatchObject({ outcome: 'ran', restored: 3 });
    expect(await shop.stockOf(half)).toBe(stock);
  },
);

test.each([
  ['none', 'write-if-newest'],
  ['conditional', 'restore-once'],
])(
  '%s: %s of a put-back that lost its lock is refused once the next sale has read, and the next tick restores',
  async (guard, command) => {
    await setLock('fenced');
    await setJobLock([node], guard);
    const sku = `late-${command}`;
    await makeDue(shop, node, sku, 1, 'fenced');
    const held = links.Redis.holdNext(command);
    const result = tick(node);
    await held.arrived;
    await shop.redis.client.del(`{inventory${sku}}:lock:fenced`);
    await other.lab('PUT', '/next-sale', { untilResumed: true });
    const next = other.sell(sku);
    await until('the next one is inside', async () => (await other.state()).held === 1);

    expect(await held.letGo()).toBe(true);

    expect(await result).toMatchObject({ outcome: 'failed', code: 'STALE_TOKEN', restored: 0 });
    await other.lab('PUT', '/resume');
    expect((await next).body).toMatchObject({ outcome: 'sold', stockBefore: UNITS_IN_STOCK });
    expect(await shop.stockOf(sku)).toBe(UNITS_IN_STOCK - 1);
    expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 1 });
    expect(await shop.stockOf(sku)).toBe(UNITS_IN_STOCK);
  },
);

test('the schedule: two nodes close what is due by themselves, one by its setting, one that is told, until it is told otherwise', async () => {
  await makeDue(shop, node, 'rate', 3);
  expect((await jobOf(node)).schedule).toEqual({});
  const scheduled = await shop.openNode({ ORDER_CLEANUP_FIXED_RATE_MS: '50' });

  const setSchedule = async (schedule: JobSchedule) => (await node.lab('PUT', '/jobs/cleanup', { schedule })).body;
  expect(await setSchedule({ fixedRateMs: 50 })).toMatchObject({ schedule: { fixedRateMs: 50 } });
  await until('all are restored', async () => (await countOrders(shop, 'rate')).CLOSED === 3);
  for (const each of [node, scheduled])
    await until('it has ticked', async () => (await jobOf(each)).scheduled.length > 2);

  expect(await setSchedule({})).toMatchObject({ schedule: {}, scheduled: [] });
  expect(await shop.stockOf('rate')).toBe(UNITS_IN_STOCK + 3);
  await scheduled.part.stop();
});

describe('a node is killed half way', () => {
  async function killHalfWay(guard: string, after: 'restored' | 'closed' = 'restored') {
    const doomed = await shop.openNode({ JOB_LOCK: guard });
    await setJobLock([node], guard);
    await makeDue(shop, node, 'crash');
    const { isHeld } = await startTick(doomed, after, 5);
    expect(isHeld).toBe(true);
    doomed.signal('SIGKILL');
    await doomed.part.ended;
    // As the end of its lease does.
    await shop.redis.client.del(jobLockKey(lockOfGuard(guard)));
  }

  test('8-auto-renew, between restored and closed: the next tick restores that order again, so a unit comes back twice', async () => {
    await killHalfWay('8-auto-renew');

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 6, closed: 6, restored: 6 });

    expect(await shop.stockOf('crash')).toBe(UNITS_IN_STOCK + 10 + 1);
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: -1 });
  });

  test('close-first, between closed and restored: no tick reads that order again, so its unit never comes back', async () => {
    await killHalfWay('close-first', 'closed');

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 5, closed: 5, restored: 5 });

    expect(await shop.stockOf('crash')).toBe(UNITS_IN_STOCK + 10 - 1);
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 1 });
  });

  test('conditional, when a unit was restored and that was not written down: Redis knows, and each order is restored once', async () => {
    await killHalfWay('conditional');
    expect(await countOrders(shop, 'crash')).toEqual({ 'CLOSED and not restored': 10 });
    expect(await shop.stockOf('crash')).toBe(UNITS_IN_STOCK + 5);

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 5 });

    expect(await shop.stockOf('crash')).toBe(UNITS_IN_STOCK + 10);
    expect(await countOrders(shop, 'crash')).toEqual({ CLOSED: 10 });
    expect(await shop.accountOf('crash')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  });
});

test.each(['8', 'close-first'])(
  '%s: a node is asked to stop: it ends with the order it is at, gives the lock up, and the other node does the rest',
  async (guard) => {
    const stopping = await shop.openNode({ JOB_LOCK: guard, JOB_LEASE_MS: '60000', JOB_MIN_HOLD_MS: '50000' });
    await setJobLock([node], guard);
    await makeDue(shop, node, 'stop');
    const { result } = await startTick(stopping, 'closed', 4);

    stopping.signal('SIGTERM');
    expect(await result).toMatchObject({ outcome: 'failed', code: 'SHUTTING_DOWN', closed: 4 });
    await stopping.part.ended;

    expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 6 });
    expect(await shop.stockOf('stop')).toBe(UNITS_IN_STOCK + 10);
  },
);

test.each([
  ['Redis', '8-auto-renew'],
  ['MySQL', 'conditional'],
  ['ZooKeeper', 'zookeeper'],
] as const)('a tick says that it is %s, under %s, and a later one does all that is due', async (server, guard) => {
  await makeDue(shop, node, 'away', 3);
  await setJobLock([node], guard, { leaseMs: 2_000 });
  links[server].cut('silent');

  const result = await tick(node);
  links[server].restore();

  expect(result).toMatchObject({
    outcome: 'failed',
    code: 'STORE_UNAVAILABLE',
    detail: expect.stringMatching(`^${server} `),
    restored: 0,
  });
  await until('a tick does it', async () => (await tick(node)).outcome === 'ran');
  expect(await shop.stockOf('away')).toBe(UNITS_IN_STOCK + 3);
  expect(await countOrders(shop, 'away')).toEqual({ CLOSED: 3 });
  expect(node.lines.filter((line) => line.includes('a bug'))).toEqual([]);
});

test('3-spin: a tick whose lock Redis refuses to release fails, and keeps no later one out', async () => {
  await makeDue(shop, node, 'refused', 2);
  await setJobLock([node, other], '3-spin');
  const { result, resume } = await startTick(node, 'closed', 2);

  const allow = await refuseWrites(shop.redis.client);
  await resume();
  expect(await result).toMatchObject({ outcome: 'failed', detail: expect.stringMatching(/NOREPLICAS/), closed: 2 });
  expect((await node.state()).unreleased).toBe(1);
  await allow();

  await until('a tick runs', async () => (await tick(other)).outcome === 'ran');
});

test.each<[string, string, unknown]>([
  ['a tick without a body, as a web page of another origin can send it', 'POST', undefined],
  ['a lock that does not exist', 'PUT', { guard: { lock: '9' } }],
  ['a minimum hold that is longer than the lease', 'PUT', { guard: { lock: '4', leaseMs: 100, minHoldMs: 100 } }],
  ['a schedule that never comes', 'PUT', { schedule: { cron: '0 0 0 30 2 ?' } }],
])('%s is refused', async (_what, method, body) => {
  await setJobLock([node], '3');

  expectProblem(await node.lab(method, '/jobs/cleanup', body), 'BAD_REQUEST');

  expect(await jobOf(node)).toMatchObject({ guard: '3-spin', running: 0 });
});
