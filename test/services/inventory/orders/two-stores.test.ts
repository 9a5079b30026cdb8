// The stock is in Redis and the order in MySQL: what is left when one of them, or the node, goes away between the two, and what a
// repeat with the same key gets then.

import { createConnection } from 'mysql2/promise';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connectOrders } from '../../../../services/inventory/orders/order-store.ts';
import { expectProblem, startLink, startNodeAlone, type TestNode, until } from '../node-under-test.ts';
import { newKey, postKeyed, sellKeyed } from './keyed.ts';
import { type MysqlLine, openMysqlLine } from './mysql-line.ts';
import { buy, openShop, post, type Shop, sellHeld, supply } from './own-shop.ts';

const A_UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

let shop: Shop;
/** Where the repeats go. */
let node: TestNode;
/** It reaches MySQL through a line that breaks where a test says. */
let atLine: TestNode;
let line: MysqlLine;

beforeAll(async () => {
  shop = await openShop();
  line = await openMysqlLine(shop.url);
  [node, atLine] = await Promise.all([shop.openNode(), shop.openNode({ MYSQL_URL: line.url })]);
});

const lockOf = (sku: string) => `{inventory${sku}}:lock:8-auto-renew`;

/** What is where, in units: in stock, ordered, intended. */
async function whereabouts(sku: string) {
  const [inStock, orders, intents] = await Promise.all([shop.stockOf(sku), shop.ordersOf(sku), shop.intentsOf(sku)]);
  return { inStock, ordered: orders.length, intended: intents.length };
}

/** The time of every first request runs out, though it has no answer. */
const endClaims = () => shop.query('UPDATE tb_request SET claimed_until = claimed_until - INTERVAL 1 HOUR');

describe('the order can’t be written', () => {
  test.each([
    ['8-auto-renew', 'INSERT INTO tb_order'],
    ['8-auto-renew', 'UPDATE tb_request SET status'],
    ['mysql-conditional', 'INSERT INTO tb_order'],
  ])('%s, %s is lost: the unit is back, the answer is definite, and a repeat sells', async (version, statement) => {
    for (const each of [node, atLine]) await each.lab('PUT', '/lock-version', { version });
    const [sku, key] = [`${version}-${statement.slice(0, 6)}`, newKey()];
    await supply(atLine, sku, 5);
    const remaining = async () => (await node.get(`/inventory?sku=${sku}`)).body.remaining;
    line.cutAt(statement, 'before');

    const answer = await sellKeyed(atLine, sku, key);

    expectProblem(answer, 'ORDER_FAILED', { detail: /^Order .* could not be written; the unit is back in stock\.$/ });
    await until('the intent is forgotten', async () => (await shop.intentsOf(sku)).length === 0);
    expect([await remaining(), await shop.ordersOf(sku)]).toEqual([5, []]);
    expect((await sellKeyed(node, sku, key)).body).toMatchObject({ outcome: 'sold', lock: version });
    expect([await remaining(), await shop.ordersOf(sku)]).toMatchObject([4, [{ lock_name: version }]]);
    for (const each of [node, atLine]) await each.lab('PUT', '/lock-version', { version: '8' });
  });

  test.each([
    ['the answer to COMMIT is lost', 'answered', { inStock: 4, ordered: 1, intended: 0 }],
    ['COMMIT itself is lost', 'before', { inStock: 4, ordered: 0, intended: 1 }],
  ] as const)(
    'nobody knows, because %s: the sale is in doubt, MySQL has the evidence, and a repeat makes one order',
    async (_what, when, left) => {
      const key = newKey();
      await supply(atLine, when, 5);
      line.cutAt('COMMIT', when);

      const answer = await sellKeyed(atLine, when, key);

      expectProblem(answer, 'ORDER_FAILED', { definite: false, detail: /^Order .* may have been written/ });
      const [id] = A_UUID.exec(String(answer.body.detail)) ?? [];
      await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);
      expect(await whereabouts(when)).toEqual(left);
      const [evidence] = left.ordered ? await shop.ordersOf(when) : await shop.intentsOf(when);
      expect(evidence?.id).toBe(id);
      expect((await sellKeyed(node, when, key)).body).toMatchObject({
        outcome: 'sold',
        ...(left.ordered ? { orderId: id, node: atLine.name } : { node: node.name }),
      });
      expect(await shop.ordersOf(when)).toHaveLength(1);
    },
  );

  /** A sale whose order can't be written when another holder has the lock. It waits for that lock, to put its unit back. */
  async function sellWithoutOrder(sku: string, waitTimeoutMs: number) {
    await supply(atLine, sku, 5);
    await atLine.lab('PUT', '/lock-version', { version: '8', waitTimeoutMs });
    const { answer, resume } = await sellHeld(atLine, sku);
    await until('the lock is free', async () => (await shop.redis.client.exists(lockOf(sku))) === 0);
    await shop.redis.client.hset(lockOf(sku), 'somebody', 1);
    line.cutAt('INSERT INTO tb_order', 'before');
    await resume();
    return { answer };
  }

  test('the unit can’t be given back, either: the sale is in doubt, and its intent stays', async () => {
    const { answer } = await sellWithoutOrder('stuck', 200);

    expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /may not be back in stock\.$/ });

    await shop.redis.client.del(lockOf('stuck'));
    expect(await whereabouts('stuck')).toEqual({ inStock: 4, ordered: 0, intended: 1 });
    await atLine.lab('PUT', '/lock-version', { version: '8' });
  });

  test.each(['redis-atomic', 'mysql-conditional'])(
    '%s: its sku was deleted meanwhile: it is not made again, and the intent stays',
    async (version) => {
      const sku = `deleted-${version}`;
      await atLine.lab('PUT', '/lock-version', { version });
      await supply(atLine, sku, 5);
      const { answer, resume } = await sellHeld(atLine, sku);
      // As nobody would who asks the listener: that would settle the intent.
      await shop.redis.client.del(`{inventory${sku}}:stock`);
      await shop.query('DELETE FROM tb_stock WHERE sku = ?', [sku]);
      line.cutAt('INSERT INTO tb_order', 'before');
      await resume();

      expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /may not be back in stock\.$/ });

      expectProblem(await atLine.get(`/inventory?sku=${sku}`), 'NOT_FOUND');
      expect(await shop.intentsOf(sku)).toHaveLength(1);
      await atLine.lab('PUT', '/lock-version', { version: '8' });
    },
  );

  test('the intent can’t be written: nothing is taken', async () => {
    await supply(atLine, 'early', 5);
    const before = (await atLine.events()).length;
    line.cutAt('INSERT INTO tb_intent', 'before');

    expectProblem(await atLine.sell('early'), 'STORE_UNAVAILABLE', { detail: /^MySQL did not reply before/ });

    expect(await whereabouts('early')).toEqual({ inStock: 5, ordered: 0, intended: 0 });
    expect((await atLine.events()).slice(before).map(({ type }) => type)).toEqual(['waiting', 'failed']);
  });

  test('somebody has settled the intent of a sale that was late: there is no order, and the intent is there again', async () => {
    await supply(atLine, 'settled', 5);
    const { answer, resume } = await sellHeld(atLine, 'settled');

    await shop.query("DELETE FROM tb_intent WHERE sku = 'settled'");
    await resume();

    expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /was settled meanwhile/ });
    expect(await whereabouts('settled')).toEqual({ inStock: 4, ordered: 0, intended: 1 });
  });

  test('the first was only slow: a repeat has sold, so it puts its unit back, and makes no order', async () => {
    const key = newKey();
    await supply(atLine, 'slow', 5);
    const { answer, resume } = await sellHeld(atLine, 'slow', key);
    await endClaims();
    const heir = await sellKeyed(node, 'slow', key);
    expect(heir.body).toMatchObject({ outcome: 'sold', node: node.name });

    await resume();

    // The heir has sold with the same key, so this buyer must not read that nothing was sold.
    expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /the unit is back in stock\.$/ });
    expect(await whereabouts('slow')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
    for (const each of [atLine, node]) expect((await sellKeyed(each, 'slow', key)).text).toBe(heir.text);
  });
});

test('SIGKILL before the order and before the answer: a repeat makes the one, and gets the other', async () => {
  const doomed = await shop.openNode();
  const [early, late] = [newKey(), newKey()];
  for (const sku of ['before-order', 'before-answer']) await supply(doomed, sku, 5);
  await sellHeld(doomed, 'before-order', early);
  await doomed.lab('PUT', '/next-sale', { beforeAnswer: true });
  sellKeyed(doomed, 'before-answer', late).catch(() => {});
  await until('both are held', async () => (await doomed.state()).held === 2);
  doomed.signal('SIGKILL');
  await doomed.part.ended;

  const [order] = await shop.ordersOf('before-answer');
  expect((await sellKeyed(node, 'before-answer', late)).body).toMatchObject({ orderId: order?.id, node: doomed.name });
  expect(await whereabouts('before-answer')).toEqual({ inStock: 4, ordered: 1, intended: 0 });

  // It may still be under way.
  expectProblem(await sellKeyed(node, 'before-order', early), 'REQUEST_IN_PROGRESS', { definite: false });
  await endClaims();
  expect((await sellKeyed(node, 'before-order', early)).body).toMatchObject({ outcome: 'sold', node: node.name });
  // The intent tells of the unit that the dead node has taken.
  expect(await whereabouts('before-order')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
});

test.each(['answered', 'before'] as const)(
  'COMMIT of a refund is lost, or its answer (%s): in doubt, and a repeat is answered, with one refund in all',
  async (when) => {
    const [sku, key] = [`refund-${when}`, newKey()];
    await supply(atLine, sku, 5);
    const { id } = await buy(atLine, sku);
    await post(atLine, `/orders/${id}/pay`);
    line.cutAt('COMMIT', when);

    const answer = await postKeyed(atLine, `/orders/${id}/refund`, key);

    expectProblem(answer, 'STORE_UNAVAILABLE', { definite: false });
    await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);
    expect((await postKeyed(node, `/orders/${id}/refund`, key)).body).toMatchObject({ id, status: 'REFUNDED' });
    expect((await shop.paymentsOf(id)).map(({ kind }) => kind)).toEqual(['PAYMENT', 'REFUND']);
    expectProblem(await postKeyed(node, `/orders/${id}/refund`, newKey()), 'ORDER_STATE');
  },
);

test('sold out, or given up by its buyer: the sale leaves neither an order nor an intent, and its key is free', async () => {
  await supply(node, 'gone', 1);
  await buy(node, 'gone');
  expectProblem(await node.sell('gone'), 'OUT_OF_STOCK');
  await supply(node, 'gone', 1);
  await shop.redis.client.hset(lockOf('gone'), 'somebody', 1);
  const [key, hangUp] = [newKey(), new AbortController()];
  const sale = sellKeyed(node, 'gone', key, { signal: hangUp.signal });
  await until('it has its intent', async () => (await shop.intentsOf('gone')).length === 1);

  hangUp.abort();

  await expect(sale).rejects.toThrow('aborted');
  await until('its intent is forgotten', async () => (await shop.intentsOf('gone')).length === 0);
  await until('its key is free', async () => (await node.state()).answering === 0);
  await shop.redis.client.del(lockOf('gone'));
  expect(await whereabouts('gone')).toEqual({ inStock: 1, ordered: 1, intended: 0 });
  expect((await sellKeyed(node, 'gone', key)).body).toMatchObject({ outcome: 'sold' });
});

test('a node that starts while MySQL is away makes the tables when it comes', async () => {
  const toMysql = await startLink(await shop.database('later'));
  toMysql.cut();
  const early = await startNodeAlone(shop.redis.url, { MYSQL_URL: toMysql.url });
  expectProblem(await early.get('/readyz'), 'STORE_UNAVAILABLE', { detail: /MySQL/ });
  expectProblem(await early.sell('later'), 'STORE_UNAVAILABLE', { definite: true });
  toMysql.restore();

  await until('it is ready', async () => (await early.get('/readyz')).status === 200);
  await supply(early, 'later', 5);
  expect(await buy(early, 'later')).toMatchObject({ status: 'UNPAID' });
});

test('a node that starts while somebody has locked a table says that it is not ready, stops, and makes the tables when it may', async () => {
  const toMysql = await shop.database('locked');
  const dba = await createConnection(toMysql);
  onTestFinished(() => dba.destroy());
  await dba.query('CREATE TABLE tb_order (id INT)');
  await dba.query('LOCK TABLES tb_order WRITE');
  const start = () => startNodeAlone(shop.redis.url, { MYSQL_URL: toMysql });
  const [early, stopped] = await Promise.all([start(), start()]);

  const answers = [early, stopped].flatMap((each) => [each.get('/readyz'), each.sell('locked')]);
  for (const answer of await Promise.all(answers)) expectProblem(answer, 'STORE_UNAVAILABLE', { detail: /^MySQL/ });
  stopped.signal('SIGTERM');
  expect(await stopped.part.ended).toMatch(/ended with exit code 0/);
  await dba.query('DROP TABLE tb_order');
  await dba.query('UNLOCK TABLES');
  await until('it is ready', async () => (await early.get('/readyz')).status === 200);
  await supply(early, 'locked', 5);
  expect(await buy(early, 'locked')).toMatchObject({ status: 'UNPAID' });
});

test('a node is asked to stop while MySQL does not answer: sales that are held before their order are answered, and it ends', async () => {
  const { node: leaving, toMysql } = await shop.openFarNode({ LOCK_VERSION: 'mysql-conditional' });
  await supply(leaving, 'held', 10);
  await leaving.lab('PUT', '/next-sale', { beforeOrder: true, times: 6 });
  const sales = Array.from({ length: 6 }, () => leaving.sell('held'));
  await until('they are held', async () => (await leaving.state()).held === 6);
  // All connections of the stock are there, and free.
  await Promise.all(sales.map(() => leaving.get('/inventory?sku=held')));
  toMysql.cut('silent');

  leaving.signal('SIGTERM');

  for (const answer of await Promise.all(sales)) expectProblem(answer, 'ORDER_FAILED', { definite: false });
  expect(await leaving.part.ended).toMatch(/ended with exit code 0/);
});

test('a node that stops writes the orders of the sales in flight first', async () => {
  const leaving = await shop.openNode();
  await supply(leaving, 'leaving', 5);
  const { answer } = await sellHeld(leaving, 'leaving');

  await leaving.part.stop();

  const { body } = await answer;
  expect(await shop.ordersOf('leaving')).toMatchObject([{ id: body.orderId, status: 'UNPAID' }]);
  expect(leaving.lines.at(-1)).toContain('"stopped"');
  expect(leaving.lines.filter((each) => /"a bug"/.test(each))).toEqual([]);
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [node, atLine]) expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
});

test('the intents: a table that is older than the end of their sales gets the column, and nobody knows it of those in there', async () => {
  const url = await shop.database('older');
  const before = await createConnection(url);
  onTestFinished(() => before.destroy());
  await before.query('CREATE TABLE tb_intent (id CHAR(36) PRIMARY KEY, created_at DATETIME(3) NOT NULL)');
  await before.query("INSERT INTO tb_intent VALUES ('a', UTC_TIMESTAMP(3))");

  // Each node does so when it starts.
  for (let starts = 0; starts < 2; starts += 1) {
    const mysql = connectOrders(url, 1);
    onTestFinished(() => mysql.end());
    const [rows] = await mysql.query('SELECT id, alive_until FROM tb_intent');
    expect(rows).toEqual([{ id: 'a', alive_until: null }]);
  }
});

test('the intents: a key answers what is asked by sku, and what is asked by time', async () => {
  const keys = await shop.query("SHOW INDEX FROM tb_intent WHERE Seq_in_index = 1 AND Key_name <> 'PRIMARY'");
  expect(keys.map(({ Column_name }) => Column_name).sort()).toEqual(['created_at', 'sku']);
});
