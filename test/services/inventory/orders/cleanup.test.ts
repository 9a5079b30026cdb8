import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Link, openLink } from '../../../../scripts/link/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { expectProblem, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';
import { countOrders, jobOf, makeDue, setJobLock, startTick, tick, UNITS_IN_STOCK } from './own-ticks.ts';

let shop: Shop;
/** Both nodes reach Redis by it. */
let link: Link;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  shop = await openShop();
  link = await openLink(shop.redis.url);
  cleanUpLater(link.close);
  const env = { REDIS_URL: link.url };
  [node, other] = await Promise.all([shop.openNode(env), shop.openNode(env)]);
  // It has the tables then.
  await node.get('/orders');
});

beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply', 'tb_dead_letter'])
    await shop.query(`DELETE FROM ${table}`);
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

  test('none: both restore them, so 20 units come back for 10', async () => {
    await setJobLock([node, other], 'none');

    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', node: node.name, guard: 'none', due: 10, closed: 10, restored: 10 },
      { outcome: 'ran', node: other.name, guard: 'none', due: 10, closed: 10, restored: 10 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 20);
    expect(await shop.accountOf('double')).toMatchObject({ inDoubt: 0, unexplained: -10 });
  });

  test('8-auto-renew: the second is skipped, and each order is restored once', async () => {
    await setJobLock([node, other], '8');

    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', due: 10, closed: 10, restored: 10 },
      { outcome: 'skipped', due: 0, closed: 0, restored: 0 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 10);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 10 });
    // The lock is free again.
    expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 0 });
  });

  test('conditional: both read them, and each order is closed and restored by one of them', async () => {
    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', due: 10, closed: 10, restored: 10 },
      { outcome: 'ran', due: 10, closed: 0, restored: 0 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 10);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 10 });
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
      { order_id: id, tries: 5, reason: expect.stringMatching(/holds no whole|not an integer/) },
    ]);
    expect((await shop.reconcile()).stdout).toContain(`${id}  `);
    await supply(node, 'dead', 5);
    expect(await letters()).toEqual([]);
  },
);

describe('units come back', () => {
  test('conditional: to the stock that each came from', async () => {
    await setLock('fenced');
    await makeDue(shop, node, 'both', 2, '4-ttl');
    await shop.query("INSERT INTO tb_stock (sku, stock) VALUES ('both', 7)");
    await shop.query("UPDATE tb_order SET lock_name = 'mysql-pessimistic' WHERE sale_id = '0'");

    expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 2, restored: 2 });

    expect(await shop.stockOf('both')).toBe(UNITS_IN_STOCK + 1);
    expect(await shop.query("SELECT stock FROM tb_stock WHERE sku = 'both'")).toMatchObject([{ stock: 8 }]);
  });
});

describe('a put-back and a sale meet', () => {
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
      const held = link.holdNext(command);
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
});

describe('the schedule', () => {
  test('both nodes close what is due by themselves, each order once', async () => {
    const env = { ORDER_CLEANUP_CRON: '* * * * * ?', ORDER_TTL_MS: '1' };
    const scheduled = await Promise.all([shop.openNode(env), shop.openNode(env)]);
    const [first] = scheduled as [TestNode, TestNode];
    await supply(first, 'cron', 20);
    const sold = await Promise.all(scheduled.flatMap((each) => [buy(each, 'cron'), buy(each, 'cron')]));

    await until('all are closed', async () => (await countOrders(shop, 'cron')).CLOSED === sold.length);

    expect(await jobOf(first)).toMatchObject({
      guard: 'conditional',
      schedule: { cron: '* * * * * ?' },
      nextTick: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    });
    // An order is closed before its unit is back, and that is written down last.
    const open = "SELECT id FROM tb_order WHERE sku = 'cron' AND restored_at IS NULL";
    await until('all are restored', async () => (await shop.query(open)).length === 0);
    expect(await shop.stockOf('cron')).toBe(20);
    for (const { part, signal } of scheduled) {
      signal('SIGTERM');
      await part.ended;
    }
  });

  test('a node that is told a fixed rate closes what is due by itself, until it is told otherwise', async () => {
    await makeDue(shop, node, 'rate', 3);
    expect(await jobOf(node)).toMatchObject({ schedule: {}, nextTick: null });

    const { body } = await node.lab('PUT', '/job-schedule', { fixedRateMs: 50 });
    expect(body).toMatchObject({ schedule: { fixedRateMs: 50 }, nextTick: expect.stringMatching(/Z$/) });
    await until('all are closed', async () => (await countOrders(shop, 'rate')).CLOSED === 3);
    await until('it has ticked again', async () => (await jobOf(node)).scheduled.length > 2);

    const told = { schedule: {}, scheduled: [], nextTick: null };
    expect((await node.lab('PUT', '/job-schedule', {})).body).toMatchObject(told);
    expect(await shop.stockOf('rate')).toBe(UNITS_IN_STOCK + 3);
  });
});

describe('the lab listener', () => {
  test.each<[string, string, string, unknown]>([
    ['a tick without a body, as a web page of another origin can send it', 'POST', '/jobs/cleanup', undefined],
    ['a lock that does not exist', 'PUT', '/job-lock', { lock: '9' }],
    ['a minimum hold that is longer than the lease', 'PUT', '/job-lock', { lock: '4', leaseMs: 100, minHoldMs: 100 }],
    ['a schedule that never comes', 'PUT', '/job-schedule', { cron: '0 0 0 30 2 ?' }],
  ])('%s is refused', async (_what, method, path, body) => {
    await setJobLock([node], '3');

    expectProblem(await node.lab(method, path, body), 'BAD_REQUEST');

    expect(await jobOf(node)).toMatchObject({ guard: '3-spin', running: 0 });
    expectProblem(await node.lab('DELETE', path), 'METHOD_NOT_ALLOWED');
  });
});
