import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { ask, expectProblem, jsonBody, startLink, startNode, type TestNode, until } from '../node-under-test.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';
import { countOrders, jobOf, makeDue, setJobLock, startTick, tick, UNITS_IN_STOCK } from './own-ticks.ts';

let shop: Shop;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  shop = await openShop();
  [node, other] = await Promise.all([shop.openNode(), shop.openNode()]);
  // It has the tables then.
  await node.get('/orders');
});

beforeEach(async () => {
  for (const table of ['tb_order', 'tb_intent', 'tb_supply']) await shop.query(`DELETE FROM ${table}`);
  await setJobLock([node, other], 'conditional');
});

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

describe('both nodes tick on the same 10 orders', () => {
  test.each(['none', 'in-process'])('%s: both restore them, so 20 units come back for 10', async (guard) => {
    await setJobLock([node, other], guard);
    await makeDue(shop, node, 'double');

    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', node: node.name, guard, due: 10, closed: 10, restored: 10 },
      { outcome: 'ran', node: other.name, guard, due: 10, closed: 10, restored: 10 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 20);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 10 });
    expect(await shop.accountOf('double')).toMatchObject({ inDoubt: 0, unexplained: -10 });
    await supply(node, 'double', 0);
  });

  test('8-auto-renew: the second is skipped, and each order is restored once', async () => {
    const guard = '8-auto-renew';
    await setJobLock([node, other], guard);
    await makeDue(shop, node, 'double');

    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', guard, due: 10, closed: 10, restored: 10 },
      { outcome: 'skipped', guard, due: 0, closed: 0, restored: 0 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 10);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 10 });
    // The lock is free again.
    expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0, closed: 0, restored: 0 });
    expect(await shop.redis.client.exists(`{job:order-cleanup}:lock:${guard}`)).toBe(0);
  });

  test('conditional: both read them, and each order is closed and restored by one of them', async () => {
    await makeDue(shop, node, 'double');

    const results = await bothTick();

    expect(results).toMatchObject([
      { outcome: 'ran', due: 10, closed: 10, restored: 10 },
      { outcome: 'ran', due: 10, closed: 0, restored: 0 },
    ]);
    expect(await shop.stockOf('double')).toBe(UNITS_IN_STOCK + 10);
    expect(await countOrders(shop, 'double')).toEqual({ CLOSED: 10 });
  });

  test('conditional: in turns, order by order, their counts add up to 10', async () => {
    await makeDue(shop, node, 'turns');
    const first = await startTick(node, 'closed', 3);
    const second = await startTick(other, 'closed', 3);

    await Promise.all([first.resume(), second.resume()]);
    const results = [await first.result, await second.result];

    const sum = (of: 'closed' | 'restored') => results.reduce((units, result) => units + result[of], 0);
    expect([sum('closed'), sum('restored')]).toEqual([10, 10]);
    expect(Math.min(...results.map(({ closed }) => closed))).toBeGreaterThanOrEqual(3);
    expect(await shop.stockOf('turns')).toBe(UNITS_IN_STOCK + 10);
    expect(await shop.accountOf('turns')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  });

  test.each(['none', 'conditional'])('%s: the same where the stock is in MySQL', async (guard) => {
    await setJobLock([node, other], guard);
    for (const each of [node, other]) await each.lab('PUT', '/lock-version', { version: 'mysql-conditional' });
    await makeDue(shop, node, 'inside', 10, 'mysql-conditional');

    const results = await bothTick();

    const restored = guard === 'none' ? 20 : 10;
    expect(results.reduce((units, result) => units + result.restored, 0)).toBe(restored);
    expect((await node.get('/inventory?sku=inside')).body.remaining).toBe(UNITS_IN_STOCK + restored);
    expect(await countOrders(shop, 'inside')).toEqual({ CLOSED: 10 });
    await supply(node, 'inside', 0);
    for (const each of [node, other]) await each.lab('PUT', '/lock-version', { version: '8' });
  });
});

test('in-process: a second tick of the same node is skipped; without a guard it restores everything again', async () => {
  await setJobLock([node], 'in-process');
  await makeDue(shop, node, 'same', 10);
  const first = await startTick(node, 'read');
  expect(await tick(node)).toMatchObject({ outcome: 'skipped' });
  await first.resume();
  expect(await first.result).toMatchObject({ outcome: 'ran', restored: 10 });
  expect(await shop.stockOf('same')).toBe(UNITS_IN_STOCK + 10);

  await setJobLock([node], 'none');
  await makeDue(shop, node, 'again', 10);
  const held = await startTick(node, 'read');
  expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 10 });
  await held.resume();
  expect(await held.result).toMatchObject({ outcome: 'ran', restored: 10 });
  expect(await shop.stockOf('again')).toBe(UNITS_IN_STOCK + 20);
  await supply(node, 'again', 0);
});

describe('the minimum hold', () => {
  test.each(['8-auto-renew'])(
    '%s: a tick that was quick keeps the lock, so the late schedule of the other node is skipped',
    async (guard) => {
      const env = { JOB_LOCK: guard, JOB_LEASE_MS: '600000', JOB_MIN_HOLD_MS: '500000' };
      const keeping = await shop.openNode(env);
      await setJobLock([other], guard, { leaseMs: 5_000, minHoldMs: 20 });
      await makeDue(shop, node, 'quick', 1);

      const quick = tick(keeping);
      await until('it is done', async () => (await countOrders(shop, 'quick')).CLOSED === 1);
      expect(await tick(other)).toMatchObject({ outcome: 'skipped' });

      // A node that stops keeps no lock.
      keeping.signal('SIGTERM');
      expect(await quick).toMatchObject({ outcome: 'ran', restored: 1 });
      await keeping.part.ended;
      // It ends when the minimum is over.
      for (let ticks = 0; ticks < 2; ticks += 1) expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0 });
    },
  );

  test('without it the same tick runs on both nodes, one after the other', async () => {
    await setJobLock([node, other], '8');
    await makeDue(shop, node, 'quick', 1);

    expect(await tick(node)).toMatchObject({ outcome: 'ran', due: 1 });
    expect(await tick(other)).toMatchObject({ outcome: 'ran', due: 0 });
  });
});

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
    expect(await shop.paymentsOf(id)).toHaveLength(1);
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

test.each(['conditional'])('%s: sales go on meanwhile, and no unit of either is lost', async (guard) => {
  await setJobLock([node], guard);
  await makeDue(shop, node, 'busy');

  const [result, ...sales] = await Promise.all([
    tick(node),
    ...Array.from({ length: 6 }, (_, n) => (n % 2 ? node : other).sell('busy')),
  ]);

  expect(sales.map(({ status }) => status)).toEqual(sales.map(() => 200));
  expect(result).toMatchObject({ outcome: 'ran', restored: 10 });
  expect(await shop.stockOf('busy')).toBe(UNITS_IN_STOCK + 10 - 6);
  expect(await shop.accountOf('busy')).toMatchObject({ inDoubt: 0, unexplained: 0 });
});

test.each(['none', 'conditional'])('%s: a sku that was deleted meanwhile gets its units back', async (guard) => {
  await setJobLock([node], guard);
  await makeDue(shop, node, 'gone', 3);
  await node.lab('DELETE', '/stock?sku=gone');

  expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 3, restored: 3 });

  expect(await shop.stockOf('gone')).toBe(3);
  expect(await shop.accountOf('gone')).toMatchObject({ inDoubt: 0, unexplained: 0 });
});

test('none: stock that is set anew while the units of a deleted sku come back is not overwritten', async () => {
  const link = await startLink(shop.redis.url);
  const distant = await shop.openNode({ REDIS_URL: link.url, LOCK_VERSION: '3-spin', JOB_LOCK: 'none' });
  await makeDue(shop, distant, 'anew', 1, '3-spin');
  await distant.lab('DELETE', '/stock?sku=anew');
  // It has found no stock, and gives its lock up.
  const release = link.holdNext('DEL');
  const result = tick(distant);
  await release.arrived;

  await shop.redis.client.set('{inventoryanew}:stock', 9);
  await release.letGo();

  expect(await result).toMatchObject({ outcome: 'ran', restored: 1 });
  expect(await shop.stockOf('anew')).toBe(10);
  await distant.part.stop();
});

test.each([
  ['none', 'read-if-newest'],
  ['none', 'write-if-newest'],
  ['conditional', 'restore-once'],
])(
  '%s: %s of a put-back that lost its lock is refused once the next sale has read, and the next tick restores',
  async (guard, command) => {
    const link = await startLink(shop.redis.url);
    const env = { REDIS_URL: link.url, LOCK_VERSION: 'fenced', JOB_LOCK: guard };
    const distant = await shop.openNode(env);
    await other.lab('PUT', '/lock-version', { version: 'fenced' });
    const sku = `late-${command}`;
    await makeDue(shop, distant, sku, 1, 'fenced');
    const held = link.holdNext(command);
    const result = tick(distant);
    await held.arrived;
    await shop.redis.client.del(`{inventory${sku}}:lock:fenced`);
    await other.lab('PUT', '/next-sale', { untilResumed: true });
    const before = (await other.events()).length;
    const next = other.sell(sku);
    await until('the next one is inside', async () =>
      (await other.events()).slice(before).some(({ type }) => type === 'read'),
    );

    expect(await held.letGo()).toBe(true);

    expect(await result).toMatchObject({ outcome: 'failed', code: 'STALE_TOKEN', restored: 0 });
    await other.lab('PUT', '/resume');
    expect((await next).body).toMatchObject({ outcome: 'sold', stockBefore: UNITS_IN_STOCK });
    expect(await shop.stockOf(sku)).toBe(UNITS_IN_STOCK - 1);
    expect(await tick(distant)).toMatchObject({ outcome: 'ran', restored: 1 });
    expect(await shop.stockOf(sku)).toBe(UNITS_IN_STOCK);
    await other.lab('PUT', '/lock-version', { version: '8' });
    await distant.part.stop();
  },
);

test('conditional: the orders of one sku are restored a hundred at a time, under one lock of the sales', async () => {
  const link = await startLink(shop.redis.url);
  const batching = await shop.openNode({ REDIS_URL: link.url, LOCK_VERSION: '8-auto-renew' });
  await makeDue(shop, batching, 'batch', 101);
  await makeDue(shop, batching, 'alone', 1);
  const sent = (name: string) => link.counters.commands.get(name) ?? 0;

  expect(await tick(batching)).toMatchObject({ outcome: 'ran', closed: 102, restored: 102 });

  expect([sent('acquire-reentrant'), sent('restore-once')]).toEqual([3, 102]);
  expect(await shop.stockOf('batch')).toBe(UNITS_IN_STOCK + 101);
  expect(await shop.accountOf('batch')).toMatchObject({ inDoubt: 0, unexplained: 0 });
  await batching.part.stop();
});

test.each(['fenced', 'combine'])(
  '%s: the late write of a sale that lost its lock is refused between the read and the write of a put-back',
  async (lock) => {
    const [toSale, toPutBack] = [await startLink(shop.redis.url), await startLink(shop.redis.url)];
    const env = { LOCK_VERSION: lock, JOB_LOCK: 'none' };
    const [selling, puttingBack] = [
      await shop.openNode({ ...env, REDIS_URL: toSale.url }),
      await shop.openNode({ ...env, REDIS_URL: toPutBack.url }),
    ];
    await makeDue(shop, selling, `crossed-${lock}`, 1, lock);
    const [late, own] = [toSale.holdNext('write-if-newest'), toPutBack.holdNext('write-if-newest')];
    const sale = selling.sell(`crossed-${lock}`);
    await late.arrived;
    await shop.redis.client.del(`{inventorycrossed-${lock}}:lock:${lock}`);
    const result = tick(puttingBack);
    await own.arrived;

    expect(await late.letGo()).toBe(true);
    expectProblem(await sale, 'STALE_TOKEN');
    expect(await own.letGo()).toBe(true);

    expect(await result).toMatchObject({ outcome: 'ran', restored: 1 });
    expect(await shop.stockOf(`crossed-${lock}`)).toBe(UNITS_IN_STOCK + 1);
    for (const { part } of [selling, puttingBack]) await part.stop();
  },
);

test('conditional: an order that can’t be restored does not keep the tick from those of other skus', async () => {
  await makeDue(shop, node, 'broken', 2);
  await makeDue(shop, node, 'whole', 3);
  await shop.redis.client.set('{inventorybroken}:stock', 'many');

  for (const restored of [3, 0]) {
    expect(await tick(node)).toMatchObject({ outcome: 'failed', code: 'INTERNAL_ERROR', restored });
  }
  expect(await countOrders(shop, 'whole')).toEqual({ CLOSED: 3 });
  expect(await countOrders(shop, 'broken')).toEqual({ 'CLOSED and not restored': 2 });
  expect(await shop.stockOf('whole')).toBe(UNITS_IN_STOCK + 3);

  await shop.redis.client.set('{inventorybroken}:stock', UNITS_IN_STOCK);
  expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 2 });
  expect(await shop.stockOf('broken')).toBe(UNITS_IN_STOCK + 2);
});

test('while units are on their way back the lock of the sales stays as it is', async () => {
  await makeDue(shop, node, 'moving', 1);
  await shop.redis.client.hset('{inventorymoving}:lock:8-auto-renew', 'somebody', 1);
  const result = tick(node);
  let refused = await node.lab('PUT', '/lock-version', { version: '8' });
  await until('it is refused', async () => {
    if (refused.status === 200) refused = await node.lab('PUT', '/lock-version', { version: '8' });
    return refused.status !== 200;
  });

  expectProblem(refused, 'SALES_IN_FLIGHT', { detail: /^Units are being put back/ });
  await shop.redis.client.del('{inventorymoving}:lock:8-auto-renew');
  expect(await result).toMatchObject({ outcome: 'ran', restored: 1 });
  expect((await node.lab('PUT', '/lock-version', { version: '8' })).status).toBe(200);
});

test.each(['conditional'])('%s: each order goes back to the stock that it came from', async (guard) => {
  await setJobLock([node], guard);
  await node.lab('PUT', '/lock-version', { version: 'mysql-optimistic' });
  await makeDue(shop, node, 'both', 3, 'mysql-pessimistic');
  await node.lab('PUT', '/lock-version', { version: 'fenced' });
  await makeDue(shop, node, 'both', 2, '4-ttl');

  expect(await tick(node)).toMatchObject({ outcome: 'ran', closed: 5, restored: 5 });

  expect(await shop.stockOf('both')).toBe(UNITS_IN_STOCK + 2);
  const [inMysql] = await shop.query("SELECT stock FROM tb_stock WHERE sku = 'both'");
  expect(inMysql?.stock).toBe(UNITS_IN_STOCK + 3);
  await node.lab('PUT', '/lock-version', { version: '8' });
});

describe('the schedule', () => {
  test('both nodes close what is due by themselves, each order once, and stop with the node', async () => {
    const env = { ORDER_CLEANUP_CRON: '* * * * * ?', ORDER_TTL_MS: '1', LOG_LEVEL: 'debug' };
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
    expect(await shop.accountOf('cron')).toMatchObject({ inDoubt: 0, unexplained: 0 });
    await until('both have ticked', () =>
      scheduled.every(({ lines }) => lines.some((line) => line.includes('"msg":"clean-up"'))),
    );
    for (const { part, signal } of scheduled) {
      signal('SIGTERM');
      await part.ended;
    }
    const logged = scheduled.flatMap(({ lines }) => lines.filter((line) => line.includes('"msg":"clean-up"')));
    expect(logged.filter((line) => line.match(/"node":/g)?.length !== 1)).toEqual([]);
    const results = logged.map((line) => JSON.parse(line));
    expect(results.reduce((units, { restored }) => units + restored, 0)).toBe(4);
  });

  test.each<[string, Record<string, number>]>([
    ['fixed rate', { fixedRateMs: 50 }],
    ['fixed delay', { fixedDelayMs: 50 }],
  ])('%s: a node that is told so closes what is due by itself, until it is told otherwise', async (_what, schedule) => {
    const sku = Object.keys(schedule).join();
    await makeDue(shop, node, sku, 3);

    const { body } = await node.lab('PUT', '/job-schedule', schedule);
    expect(body).toMatchObject({ schedule, nextTick: expect.stringMatching(/Z$/) });
    await until('all are closed', async () => (await countOrders(shop, sku)).CLOSED === 3);
    await until('it has ticked again', async () => (await jobOf(node)).scheduled.length > 2);

    expect((await node.lab('PUT', '/job-schedule', {})).body).toMatchObject({
      schedule: {},
      scheduled: [],
      nextTick: null,
    });
    expect(await shop.stockOf(sku)).toBe(UNITS_IN_STOCK + 3);
  });

  test('without a schedule nothing is closed by itself', async () => {
    expect(await jobOf(node)).toMatchObject({ schedule: {}, nextTick: null });
  });

  test('without orders there is no clean-up, and what is set for it does no harm', async () => {
    const plain = await startNode(shop.redis.url, { ORDER_CLEANUP_CRON: '* * * * * ?', JOB_LOCK: 'zookeeper' });

    expectProblem(await plain.lab('POST', '/jobs/cleanup', {}), 'NOT_FOUND');
    expectProblem(await plain.lab('PUT', '/job-lock', { lock: 'none' }), 'NOT_FOUND');
  });
});

describe('the lab listener', () => {
  test('JOB_LOCK: a number, a name or a backend', async () => {
    const names: [string | number, string][] = [
      ['0', 'none'],
      [1, 'in-process'],
      [4, '4-ttl'],
      ['8-auto-renew', '8-auto-renew'],
      ['redis', '8-auto-renew'],
      ['mysql', 'mysql-lock-table'],
      ['conditional', 'conditional'],
    ];
    for (const [lock, guard] of names) {
      const { body } = await node.lab('PUT', '/job-lock', { lock, leaseMs: 500, minHoldMs: 20 });
      expect(body).toMatchObject({ guard, leaseMs: 500, minHoldMs: 20, running: 0, held: 0 });
    }
    expect((await node.lab('PUT', '/job-lock', { lock: 'none' })).body).toMatchObject({
      leaseMs: 30_000,
      minHoldMs: 0,
    });
  });

  test('the public listener has none of it', async () => {
    expectProblem(await node.get('/jobs/cleanup'), 'NOT_FOUND');
    expectProblem(await ask(`${node.url}/jobs/cleanup`, { method: 'POST', ...jsonBody({}) }), 'NOT_FOUND');
    for (const path of ['/job-lock', '/job-schedule', '/next-cleanup']) {
      expectProblem(await ask(`${node.url}${path}`, { method: 'PUT', ...jsonBody({}) }), 'NOT_FOUND');
    }
  });

  test.each<[string, string, string, unknown]>([
    ['a tick without a body, as a web page of another origin can send it', 'POST', '/jobs/cleanup', undefined],
    ['a tick with a member', 'POST', '/jobs/cleanup', { now: true }],
    ['a lock that does not exist', 'PUT', '/job-lock', { lock: '9' }],
    ['a sale that needs no lock', 'PUT', '/job-lock', { lock: 'redis-atomic' }],
    ['a minimum hold that is longer than the lease', 'PUT', '/job-lock', { lock: '4', leaseMs: 100, minHoldMs: 100 }],
    ['two schedules', 'PUT', '/job-schedule', { fixedRateMs: 100, fixedDelayMs: 100 }],
    ['a schedule that never comes', 'PUT', '/job-schedule', { cron: '0 0 0 30 2 ?' }],
    ['a rate that is too fast', 'PUT', '/job-schedule', { fixedRateMs: 9 }],
    ['a schedule of another kind', 'PUT', '/job-schedule', { every: 100 }],
    ['a step that does not exist', 'PUT', '/next-cleanup', { after: 'written' }],
    ['order 0', 'PUT', '/next-cleanup', { after: 'closed', orders: 0 }],
  ])('%s is refused', async (_what, method, path, body) => {
    await setJobLock([node], '3');

    expectProblem(await node.lab(method, path, body), 'BAD_REQUEST');

    expect(await jobOf(node)).toMatchObject({ guard: '3-spin', running: 0 });
  });

  test('a lock whose servers are not named is refused', async () => {
    const without = await shop.openNode();

    for (const [lock, setting] of [
      ['redlock', 'REDLOCK_URLS'],
      ['zookeeper', 'ZOOKEEPER_URL'],
    ]) {
      const answer = await without.lab('PUT', '/job-lock', { lock });
      expectProblem(answer, 'BAD_REQUEST', { detail: new RegExp(`${lock} needs ${setting}`) });
    }
    await without.part.stop();
  });

  test('a guard whose commands Redis lacks: the tick fails, does nothing, and says what to do', async ({ skip }) => {
    skip(!(await lacksDeleting(shop.redis.url)));
    const sku = 'lackingguard';
    await makeDue(shop, node, sku, 2);
    await setJobLock([node], 'delete-if-equal');

    const result = await tick(node);

    expect(result).toMatchObject({ outcome: 'failed', due: 0, closed: 0, restored: 0, code: 'COMMAND_MISSING' });
    expect(result.detail).toMatch(lackOfDeleting);
    expect(await countOrders(shop, sku)).toEqual({ UNPAID: 2 });
  });

  test('the lock of the sales is one whose commands Redis lacks: no unit is put back', async ({ skip }) => {
    skip(!(await lacksDeleting(shop.redis.url)));
    const sku = 'lackinglock';
    await makeDue(shop, node, sku, 2);
    await node.lab('PUT', '/lock-version', { version: 'delete-if-equal' });

    const result = await tick(node);
    await node.lab('PUT', '/lock-version', { version: '8' });

    expect(result).toMatchObject({ outcome: 'failed', restored: 0, code: 'COMMAND_MISSING' });
    expect(await shop.redis.client.get(`{inventory${sku}}:stock`)).toBe(String(UNITS_IN_STOCK));
    expect(await shop.redis.client.keys('*lock:delete-if-equal*')).toEqual([]);
  });

  test('other methods are refused', async () => {
    expectProblem(await node.lab('DELETE', '/jobs/cleanup'), 'METHOD_NOT_ALLOWED');
    expectProblem(await node.lab('GET', '/job-lock'), 'METHOD_NOT_ALLOWED');
  });
});
