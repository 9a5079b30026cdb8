import type { Pool } from 'mysql2/promise';
import { beforeAll, describe, expect, test } from 'vitest';
import { balance, type Holdings, readAccounts, repair } from '../../services/inventory/orders/accounts.ts';
import type { Store } from '../../services/inventory/servers/store.ts';
import { LONGEST_WAIT_TIMEOUT_MS } from '../../services/inventory/settings/limits.ts';
import { startLink, type TestNode, until } from '../services/inventory/node-under-test.ts';
import { buy, openShop, post, type Shop, sellHeld, supply } from '../services/inventory/orders/own-shop.ts';
import { countOrders, makeDue, startTick, tick, UNITS_IN_STOCK } from '../services/inventory/orders/own-ticks.ts';

let shop: Shop;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  shop = await openShop();
  [node, other] = await Promise.all([shop.openNode(), shop.openNode()]);
});

/** The figures of a sku in the table that was printed, by the words above them. */
function rowOf(stdout: string, sku: string): Record<string, string> {
  const cells = (row = '') =>
    row
      .split('│')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const rows = stdout
    .split('\n')
    .filter((row) => row.includes('│'))
    .map(cells);
  const figures = rows.find(([first]) => first === sku) ?? [];
  return Object.fromEntries((rows[0] ?? []).map((name, at) => [name, figures[at] ?? '']));
}

/** Makes what is left look older than any sale that may be in flight. */
const anHourLater = () =>
  shop.query(
    'UPDATE tb_intent SET created_at = created_at - INTERVAL 1 HOUR, alive_until = alive_until - INTERVAL 1 HOUR',
  );

test('reconcile: the units of every bucket are in stock, whatever BUCKETS is here', async () => {
  const wide = await shop.openNode({ LOCK_VERSION: 'buckets', BUCKETS: '64' });
  await supply(wide, 'wide', 6_400);

  const { exitCode, stdout } = await shop.reconcile(['--repair'], { BUCKETS: '2' });

  expect(exitCode).toBe(0);
  expect(rowOf(stdout, 'wide')).toMatchObject({ supply: '6400', 'in stock': '6400', unexplained: '0' });
});

describe('balance', () => {
  const all: Holdings = {
    sku: '001',
    stockIn: 'redis',
    supply: 10,
    inStock: 3,
    unpaid: 4,
    paid: 2,
    refunded: 1,
    restored: 7,
    owed: 0,
    unrestored: 0,
    intended: 0,
  };

  test.each<[string, Partial<Holdings>, ReturnType<typeof balance>]>([
    ['all is in stock or in an order; closed orders gave their units back', {}, { inDoubt: 0, unexplained: 0 }],
    ['a unit is missing, and nothing explains it', { inStock: 2 }, { inDoubt: 0, unexplained: 1 }],
    ['a unit is missing, and an intent explains it', { inStock: 2, intended: 1 }, { inDoubt: 1, unexplained: 0 }],
    ['a closed order explains it', { inStock: 2, unrestored: 1 }, { inDoubt: 1, unexplained: 0 }],
    ['more is missing than both explain', { inStock: 0, intended: 1, unrestored: 1 }, { inDoubt: 2, unexplained: 1 }],
    ['a unit was sold twice, which no intent explains', { unpaid: 5, intended: 3 }, { inDoubt: 0, unexplained: -1 }],
    ['a unit that is owed is not', { owed: 1 }, { inDoubt: 1, unexplained: -1 }],
    ['an intent explains no unit that is owed', { inStock: 2, owed: 1, intended: 1 }, { inDoubt: 1, unexplained: 0 }],
    ['nobody knows what was supplied', { supply: undefined }, undefined],
  ])('%s', (_what, differing, expected) => {
    expect(balance({ ...all, ...differing })).toEqual(expected);
  });
});

describe('npm run reconcile', () => {
  test('a node is killed between the stock and the order: it is listed, then repaired when asked to', async () => {
    await supply(node, 'crash', 10);
    const doomed = await shop.openNode();
    // The longest wait that there is, so that the first repair can't come too late for it.
    await doomed.lab('PUT', '/lock-version', { version: '8', waitTimeoutMs: LONGEST_WAIT_TIMEOUT_MS });
    const [paid, refunded] = [await buy(node, 'crash'), await buy(doomed, 'crash')];
    for (const { id } of [paid, refunded]) await post(other, `/orders/${id}/pay`);
    await post(other, `/orders/${refunded.id}/refund`);
    await buy(other, 'crash');
    const { answer } = await sellHeld(doomed, 'crash');
    await until('its lock is free', async () => (await shop.redis.client.exists(lockOf('crash'))) === 0);

    doomed.signal('SIGKILL');
    await doomed.part.ended;
    await expect(answer).rejects.toThrow();

    const [intent] = await shop.intentsOf('crash');
    const listed = await shop.reconcile();
    expect(rowOf(listed.stdout, 'crash')).toEqual({
      sku: 'crash',
      'stock in': 'redis',
      supply: '10',
      'in stock': '6',
      unpaid: '1',
      paid: '1',
      refunded: '1',
      'in doubt': '1',
      unexplained: '0',
      closed: '0',
    });
    expect(listed.stdout).toContain(`${intent?.id}  sku crash, ${doomed.name}, 8-auto-renew`);
    expect(listed.stdout).toContain('Every unit is accounted for.');
    expect(listed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await shop.stockOf('crash')).toBe(6);

    const tooEarly = await shop.reconcile(['--repair']);
    expect(tooEarly).toMatchObject({ exitCode: 2, stdout: '' });
    expect(tooEarly.stderr).toMatch(/^Sales may be in flight: 1 recent intent\. Try again in 1[12]\d\d s\.\n$/);
    expect(await shop.stockOf('crash')).toBe(6);

    await anHourLater();
    const repaired = await shop.reconcile(['--repair']);
    expect(repaired).toMatchObject({ exitCode: 0, stderr: '' });
    expect(repaired.stdout).toContain('Repaired: 1 unit returned to stock, 1 intent settled.');
    expect(rowOf(repaired.stdout, 'crash')).toMatchObject({ 'in stock': '7', 'in doubt': '0', unexplained: '0' });
    expect(await shop.stockOf('crash')).toBe(7);
    expect(await shop.intentsOf('crash')).toEqual([]);
  });

  test('what nothing explains, or nobody has put in stock, ends it with 1, and no repair hides it', async () => {
    await supply(node, 'stolen', 5);
    await supply(node, 'twice', 5);
    await buy(node, 'twice');
    await shop.redis.client.decr('{inventorystolen}:stock');
    await shop.redis.client.incr('{inventorytwice}:stock');
    await shop.redis.client.set('{inventoryseeded}:stock', 5);
    await buy(node, 'seeded');
    // Nobody knows what the intents of such a sku explain, so the repair leaves them, and does not count them.
    await shop.query(
      "INSERT INTO tb_intent VALUES (UUID(), 'seeded', 1, 'test', '8-auto-renew', UTC_TIMESTAMP(3) - INTERVAL 1 HOUR, NULL)",
    );

    const { exitCode, stdout } = await shop.reconcile(['--repair']);

    expect(rowOf(stdout, 'stolen')).toMatchObject({ supply: '5', 'in stock': '4', unexplained: '1' });
    expect(rowOf(stdout, 'twice')).toMatchObject({ supply: '5', 'in stock': '5', unpaid: '1', unexplained: '-1' });
    expect(stdout).toContain('Repaired: 0 units returned to stock, 0 intents settled.');
    expect(stdout).toContain('Unexplained: 2 units.');
    expect(stdout).toContain('The stock of sku seeded was not set through the admin API, so its supply is unknown.');
    expect(stdout).not.toContain('Every unit is accounted for.');
    expect(exitCode).toBe(1);
    expect(await shop.intentsOf('seeded')).toHaveLength(1);
    // A new count of the stock, as the lab makes it, is the way out.
    for (const [sku, stock] of [
      ['stolen', 5],
      ['twice', 5],
      ['seeded', 4],
    ] as const)
      await supply(node, sku, stock);
  });

  test('a sale between its two looks: it refuses', async () => {
    await supply(node, 'busy', 5);
    const link = await startLink(shop.redis.url);
    const looks = [1, 2].map(() => link.holdNext(({ args }) => args.includes('{inventorybusy}:stock')));
    const refused = shop.reconcile([], { REDIS_URL: link.url });
    await looks[0]?.arrived;
    await looks[0]?.letGo();
    await looks[1]?.arrived;
    await buy(node, 'busy');
    await looks[1]?.letGo();

    expect(await refused).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Sales are in flight: /),
    });
  });

  test('when it can’t run it says why in one line, and ends with 2; where nothing was ever sold, with 0', async () => {
    const closed = await startLink(shop.redis.url);
    await closed.close();
    const [nothing, ...ends] = await Promise.all([
      shop.reconcile([], { MYSQL_URL: await shop.database('nothing') }),
      shop.reconcile(['--force']),
      shop.reconcile([], { MYSQL_URL: '' }),
      shop.reconcile([], { MYSQL_URL: `mysql://root:s3cret@127.0.0.1:${closed.port}/x` }),
      shop.reconcile([], { REDIS_URL: closed.url }),
    ]);

    for (const { exitCode, stdout } of ends) expect([exitCode, stdout]).toEqual([2, '']);
    expect(ends.map(({ stderr }) => stderr)).toEqual([
      'It takes one flag, as in npm run reconcile -- --repair. For its settings see .env.example.\n',
      'MYSQL_URL is not set: it says where the orders are.\n',
      expect.stringMatching(/^The accounts could not be read: connect ECONNREFUSED [^\n]*\n$/),
      'The accounts could not be read: Redis does not reply.\n',
    ]);
    expect(nothing).toEqual({
      exitCode: 0,
      stdout: 'There is no stock, and there are no orders.\n',
      stderr: '',
    });
  });

  test('a stock in buckets is counted as a whole, also when the lock is another one by then', async () => {
    await node.lab('PUT', '/lock-version', { version: 'buckets' });
    await supply(node, 'spread', 800);
    for (let sale = 0; sale < 5; sale += 1) await buy(node, 'spread');
    await node.lab('PUT', '/lock-version', { version: 'fenced' });

    expect(await shop.redis.client.get('{inventoryspread}:stock')).toBe('795');
    expect(await shop.accountOf('spread')).toMatchObject({ supply: 800, inStock: 795, unpaid: 5, unexplained: 0 });
    await supply(node, 'spread', 100);
    expect(await shop.accountOf('spread')).toMatchObject({ supply: 105, inStock: 100, unexplained: 0 });
    await node.lab('PUT', '/lock-version', { version: '8' });
  });
});

describe('the accounts', () => {
  let mysql: Pool;
  let store: Store;

  beforeAll(() => {
    ({ mysql, store } = shop.books());
  });

  test('orders that were closed too long ago for a mark: the sums say whether their units are back', async () => {
    await supply(node, 'closed', 5);
    const [back, lost] = [await buy(node, 'closed'), await buy(node, 'closed')];
    const close = `UPDATE tb_order SET status = 'CLOSED', changed_at = UTC_TIMESTAMP(3) - INTERVAL 1 DAY, restored_at = IF(?, changed_at, NULL)
      WHERE id = ?`;
    await shop.query(close, [true, back.id]);
    await shop.redis.client.incr('{inventoryclosed}:stock');
    await shop.query(close, [false, lost.id]);
    const inDoubt = { inStock: 4, restored: 1, owed: 0, unrestored: 1, inDoubt: 1, unexplained: 0 };
    expect(await shop.accountOf('closed')).toMatchObject(inDoubt);

    const { stdout } = await shop.reconcile();
    expect(stdout).toContain('1 closed order whose units are not recorded as returned in MySQL:');
    expect(stdout).toContain(`  ${lost.id}  sku closed, unknown whether its units are back\n`);
    expect(stdout).not.toContain(back.id);

    expect(await repair(mysql, store, await readAccounts(mysql, store))).toEqual({ units: 1, intents: 0 });

    expect(await shop.accountOf('closed')).toMatchObject({ inStock: 5, restored: 2, unrestored: 0, inDoubt: 0 });
    expect((await node.get(`/orders/${lost.id}`)).body.restoredAt).toEqual(expect.any(String));
  });

  /** A node dies in its clean-up of 3 orders, when it has closed all, and restored one if it comes so far. */
  async function dieInTick(sku: string, after: 'closed' | 'restored') {
    await makeDue(shop, node, sku, 3);
    const doomed = await shop.openNode();
    const { result } = await startTick(doomed, after, after === 'closed' ? 3 : 1);
    doomed.signal('SIGKILL');
    await expect(result).rejects.toThrow();
    await doomed.part.ended;
  }

  test('a unit that the clean-up put back, and did not live to write down, is not put back again', async () => {
    await dieInTick('marked', 'restored');
    expect(await countOrders(shop, 'marked')).toEqual({ 'CLOSED and not restored': 3 });
    expect(await shop.accountOf('marked')).toMatchObject({
      inStock: UNITS_IN_STOCK + 1,
      restored: 1,
      owed: 2,
      inDoubt: 2,
    });

    const listed = await shop.reconcile();
    expect(listed.stdout.match(/sku marked, its units are (not )?back$/gm)?.toSorted()).toEqual([
      'sku marked, its units are back',
      'sku marked, its units are not back',
      'sku marked, its units are not back',
    ]);
    const repaired = await shop.reconcile(['--repair']);

    expect(repaired).toMatchObject({ exitCode: 0, stderr: '' });
    expect(repaired.stdout).toContain('Repaired: 2 units returned to stock, 0 intents settled.');
    expect(await countOrders(shop, 'marked')).toEqual({ CLOSED: 3 });
    expect(await shop.accountOf('marked')).toMatchObject({ inStock: UNITS_IN_STOCK + 3, inDoubt: 0, unexplained: 0 });
    expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 0 });
  });

  test('a tick between the reading and the repair, or after a repair that did not end: each unit is back once', async () => {
    await dieInTick('between', 'closed');
    const accounts = await readAccounts(mysql, store);
    expect(await shop.accountOf('between')).toMatchObject({ owed: 3, inDoubt: 3, unexplained: 0 });
    expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 3 });

    expect(await repair(mysql, store, accounts)).toEqual({ units: 0, intents: 0 });
    // The repair ends before it has written down what it did.
    await shop.query("UPDATE tb_order SET restored_at = NULL WHERE sku = 'between'");

    expect(await tick(node)).toMatchObject({ outcome: 'ran', restored: 0 });
    expect(await shop.accountOf('between')).toMatchObject({ inStock: UNITS_IN_STOCK + 3, inDoubt: 0, unexplained: 0 });
  });

  test('stock in MySQL is balanced and repaired there', async () => {
    for (const each of [node, other]) await each.lab('PUT', '/lock-version', { version: 'mysql-conditional' });
    await supply(node, 'inside', 5);
    const { answer, resume } = await sellHeld(other, 'inside');
    expect(await shop.accountOf('inside')).toMatchObject({ stockIn: 'mysql', supply: 5, inStock: 4, inDoubt: 1 });

    await repair(mysql, store, await readAccounts(mysql, store));

    expect((await node.get('/inventory?sku=inside')).body).toMatchObject({ remaining: 5 });
    // The repair came too early: the sale was only late. It is in doubt now, and nothing is lost.
    await resume();
    expect((await answer).body).toMatchObject({ code: 'ORDER_FAILED', definite: false });
    expect(await shop.accountOf('inside')).toMatchObject({
      inStock: 5,
      unpaid: 0,
      intended: 1,
      inDoubt: 0,
      unexplained: 0,
    });
    for (const each of [node, other]) await each.lab('PUT', '/lock-version', { version: '8' });
  });
});

const lockOf = (sku: string) => `{inventory${sku}}:lock:8-auto-renew`;
