// The stock is in Redis and the order in MySQL: what is left when one of them, or the node, goes away between the two.

import { beforeAll, describe, expect, test } from 'vitest';
import { ask, expectProblem, jsonBody, startLink, type TestNode, until } from '../node-under-test.ts';
import { newKey } from './keyed.ts';
import { type MysqlLine, openMysqlLine } from './mysql-line.ts';
import { buy, openShop, post, type Shop, sellHeld, supply } from './own-shop.ts';

const A_UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

let shop: Shop;
let node: TestNode;
/** It reaches MySQL through a line that breaks where a test says. */
let atLine: TestNode;
let line: MysqlLine;

beforeAll(async () => {
  shop = await openShop();
  line = await openMysqlLine(shop.url);
  [node, atLine] = await Promise.all([shop.openNode(), shop.openNode({ MYSQL_URL: line.url })]);
});

async function setLock(version: string) {
  expect((await atLine.lab('PUT', '/lock-version', { version })).status).toBe(200);
}

/** What is where, in units: in stock, ordered, intended. */
async function whereabouts(sku: string, stock = shop.stockOf(sku)) {
  const [inStock, orders, intents] = await Promise.all([stock, shop.ordersOf(sku), shop.intentsOf(sku)]);
  return { inStock, ordered: orders.length, intended: intents.length };
}

const stockInMysql = async (sku: string) =>
  Number((await shop.query('SELECT stock FROM tb_stock WHERE sku = ?', [sku]))[0]?.stock);

describe('the order can’t be written', () => {
  test.each(['0-none', '8-auto-renew', 'fenced', 'buckets', 'combine', 'redis-atomic'])(
    '%s: it certainly was not: the unit is back in stock, and the answer is definite',
    async (lock) => {
      await setLock(lock);
      await supply(atLine, lock, 5);
      line.cutAt('INSERT INTO tb_order', 'before');

      const answer = await atLine.sell(lock);

      expectProblem(answer, 'ORDER_FAILED', { detail: /^Order .* could not be written; the unit is back in stock\.$/ });
      await until('the intent is forgotten', async () => (await shop.intentsOf(lock)).length === 0);
      expect(await whereabouts(lock)).toEqual({ inStock: 5, ordered: 0, intended: 0 });
      expect((await atLine.state()).counts.failed).toBeGreaterThan(0);
      expect(await buy(atLine, lock)).toMatchObject({ status: 'UNPAID', lock });
    },
  );

  test('mysql-conditional: the same where the stock is in MySQL, too', async () => {
    await setLock('mysql-conditional');
    await supply(atLine, 'conditional', 5);
    line.cutAt('INSERT INTO tb_order', 'before');

    expectProblem(await atLine.sell('conditional'), 'ORDER_FAILED', { detail: /is back in stock/ });

    await until('the intent is forgotten', async () => (await shop.intentsOf('conditional')).length === 0);
    expect(await whereabouts('conditional', stockInMysql('conditional'))).toMatchObject({ inStock: 5, ordered: 0 });
  });

  test.each([
    ['the answer to COMMIT is lost', 'answered', { inStock: 4, ordered: 1, intended: 0 }],
    ['COMMIT itself is lost', 'before', { inStock: 4, ordered: 0, intended: 1 }],
  ] as const)(
    'nobody knows, because %s: the sale is in doubt, and MySQL has the evidence',
    async (_what, when, left) => {
      await setLock('8-auto-renew');
      await supply(atLine, when, 5);
      line.cutAt('COMMIT', when);

      const answer = await atLine.sell(when);

      expectProblem(answer, 'ORDER_FAILED', { definite: false, detail: /^Order .* may be written/ });
      const [id] = A_UUID.exec(String(answer.body.detail)) ?? [];
      await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);
      expect(await whereabouts(when)).toEqual(left);
      const [evidence] = left.ordered ? await shop.ordersOf(when) : await shop.intentsOf(when);
      expect(evidence?.id).toBe(id);
    },
  );

  test('the unit can’t be given back, either: the sale is in doubt, and its intent stays', async () => {
    await setLock('8-auto-renew');
    await supply(atLine, 'stuck', 5);
    await atLine.lab('PUT', '/lock-version', { version: '8', waitTimeoutMs: 200 });
    const { answer, resume } = await sellHeld(atLine, 'stuck');
    await until('the lock is free', async () => (await shop.redis.client.exists(lockOf('stuck'))) === 0);
    // Another holder has the lock now, and keeps it.
    await shop.redis.client.hset(lockOf('stuck'), 'somebody', 1);
    line.cutAt('INSERT INTO tb_order', 'before');
    await resume();

    expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /may not be back in stock\.$/ });

    await shop.redis.client.del(lockOf('stuck'));
    expect(await whereabouts('stuck')).toEqual({ inStock: 4, ordered: 0, intended: 1 });
    expect((await atLine.state()).counts.inDoubt).toBeGreaterThan(0);
  });

  test('the intent can’t be written: nothing is taken', async () => {
    await setLock('8-auto-renew');
    await supply(atLine, 'early', 5);
    const before = (await atLine.events()).length;
    line.cutAt('INSERT INTO tb_intent', 'before');

    expectProblem(await atLine.sell('early'), 'STORE_UNAVAILABLE', { detail: /^MySQL did not answer before/ });

    expect(await whereabouts('early')).toEqual({ inStock: 5, ordered: 0, intended: 0 });
    expect((await atLine.events()).slice(before).map(({ type }) => type)).toEqual(['waiting', 'failed']);
  });

  test('somebody has settled the intent of a sale that was late: there is no order, and the intent is there again', async () => {
    await setLock('8-auto-renew');
    await supply(atLine, 'settled', 5);
    const { answer, resume } = await sellHeld(atLine, 'settled');

    await shop.query("DELETE FROM tb_intent WHERE sku = 'settled'");
    await resume();

    expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /was settled meanwhile/ });
    expect(await whereabouts('settled')).toEqual({ inStock: 4, ordered: 0, intended: 1 });
  });

  test.each(['pay', 'refund'] as const)(
    '%s: the answer to COMMIT is lost: in doubt, and asking again tells',
    async (step) => {
      await setLock('8-auto-renew');
      await supply(atLine, step, 5);
      const { id } = await buy(atLine, step);
      if (step === 'refund') await post(atLine, `/orders/${id}/pay`);
      line.cutAt('COMMIT', 'answered');

      expectProblem(await post(atLine, `/orders/${id}/${step}`), 'STORE_UNAVAILABLE', { definite: false });

      expect((await atLine.get(`/orders/${id}`)).body.status).toBe(step === 'pay' ? 'PAID' : 'REFUNDED');
      expect(await shop.paymentsOf(id)).toHaveLength(step === 'pay' ? 1 : 2);
      expectProblem(await post(atLine, `/orders/${id}/${step}`), 'ORDER_STATE');
    },
  );

  test('pay: the connection is lost before COMMIT: definite, and nothing has happened', async () => {
    await supply(atLine, 'lost', 5);
    const { id } = await buy(atLine, 'lost');
    line.cutAt('INSERT INTO tb_payment', 'before');

    expectProblem(await post(atLine, `/orders/${id}/pay`), 'STORE_UNAVAILABLE', { detail: /^MySQL does not answer/ });

    expect((await atLine.get(`/orders/${id}`)).body.status).toBe('UNPAID');
    expect(await shop.paymentsOf(id)).toEqual([]);
  });
});

describe('the unit can’t be taken', () => {
  test('the write of the stock is lost on its way: the sale is in doubt, and its intent stays', async () => {
    const link = await startLink(shop.redis.url);
    const distant = await shop.openNode({ REDIS_URL: link.url });
    await supply(distant, 'distant', 5);
    const write = link.holdNext('SET');
    const answer = distant.sell('distant');
    await write.arrived;

    write.drop();

    expectProblem(await answer, 'STORE_UNAVAILABLE', { definite: false, detail: /^Redis did not answer while/ });
    expect(await whereabouts('distant')).toEqual({ inStock: 5, ordered: 0, intended: 1 });
    await distant.part.stop();
  });

  test('sold out, or given up by its buyer: the sale leaves neither an order nor an intent', async () => {
    await supply(node, 'gone', 1);
    await buy(node, 'gone');
    expectProblem(await node.sell('gone'), 'OUT_OF_STOCK');
    await supply(node, 'gone', 1);
    await shop.redis.client.hset(lockOf('gone'), 'somebody', 1);
    const hangUp = new AbortController();
    const sale = fetch(`${node.url}/inventory/sale?sku=gone`, { method: 'POST', signal: hangUp.signal });
    await until('it has its intent', async () => (await shop.intentsOf('gone')).length === 1);

    hangUp.abort();

    await expect(sale).rejects.toThrow('aborted');
    await until('its intent is forgotten', async () => (await shop.intentsOf('gone')).length === 0);
    await shop.redis.client.del(lockOf('gone'));
    expect(await whereabouts('gone')).toEqual({ inStock: 1, ordered: 1, intended: 0 });
  });
});

describe('MySQL goes away and comes back', () => {
  test('cut off between the stock and the order: the unit is back in stock, and all sell when MySQL is back', async () => {
    const { node, toMysql } = await shop.openFarNode();
    await supply(node, 'killed', 5);
    const paid = await buy(node, 'killed');
    const { answer, resume } = await sellHeld(node, 'killed');

    toMysql.cut();
    await resume();
    expectProblem(await answer, 'ORDER_FAILED', { detail: /the unit is back in stock\.$/ });
    expect(await shop.stockOf('killed')).toBe(4);
    // Before anything is taken.
    expectProblem(await node.sell('killed'), 'STORE_UNAVAILABLE', { detail: /^MySQL did not answer before/ });
    expectProblem(await post(node, `/orders/${paid.id}/pay`), 'STORE_UNAVAILABLE', { detail: /^MySQL/ });
    expectProblem(await node.get('/orders'), 'STORE_UNAVAILABLE', { detail: /^MySQL/ });
    expectProblem(await node.lab('PUT', '/stock', { sku: 'killed', stock: 9 }), 'STORE_UNAVAILABLE');
    expect((await node.get('/inventory?sku=killed')).body).toEqual({ sku: 'killed', remaining: 4 });
    toMysql.restore();

    expect((await post(node, `/orders/${paid.id}/pay`)).body).toMatchObject({ id: paid.id, status: 'PAID' });
    await buy(node, 'killed');
    // The intent of the sale that failed explains nothing: its unit is back.
    expect(await whereabouts('killed')).toEqual({ inStock: 3, ordered: 2, intended: 1 });
  });

  test('silent: each call is answered, and it sells when MySQL goes on', async () => {
    const { node, toMysql } = await shop.openFarNode();
    await supply(node, 'frozen', 5);
    const { id } = await buy(node, 'frozen');
    const { answer: held, resume } = await sellHeld(node, 'frozen', newKey());
    toMysql.cut('silent');

    const asked = [
      node.sell('frozen'),
      node.sell('frozen'),
      post(node, `/orders/${id}/pay`),
      node.get(`/orders/${id}`),
    ];
    await resume();
    const [lastOne, answers] = [await held, await Promise.all(asked)];
    toMysql.restore();

    expectProblem(lastOne, 'ORDER_FAILED', { detail: /the unit is back in stock\.$/ });
    for (const answer of answers) expectProblem(answer, 'STORE_UNAVAILABLE', { detail: /^MySQL/ });
    expect(await shop.stockOf('frozen')).toBe(4);
    await until('it sells', async () => (await node.sell('frozen')).status === 200);
    expect((await post(node, `/orders/${id}/pay`)).body).toMatchObject({ status: 'PAID' });
  });

  test('a node that starts while MySQL is away makes the tables when it comes', async () => {
    const toMysql = await startLink(await shop.database('later'));
    toMysql.cut();
    const early = await shop.openNode({ MYSQL_URL: toMysql.url });
    expectProblem(await early.sell('later'), 'STORE_UNAVAILABLE', { definite: true });
    toMysql.restore();

    await supply(early, 'later', 5);
    expect(await buy(early, 'later')).toMatchObject({ status: 'UNPAID' });
    await early.part.stop();
  });
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

const lockOf = (sku: string) => `{inventory${sku}}:lock:8-auto-renew`;

test('several skus are refused where sales write orders, definite, and nothing is taken', async () => {
  await Promise.all(['basket-a', 'basket-b'].map((sku) => shop.redis.client.set(`{inventory${sku}}:stock`, 5)));
  await node.lab('PUT', '/lock-version', { version: 'multi' });

  const answer = await ask(`${node.url}/inventory/sale`, {
    method: 'POST',
    ...jsonBody({ skus: ['basket-a', 'basket-b'] }),
  });

  expectProblem(answer, 'BAD_REQUEST', { detail: /^Where sales write orders, one sku is sold at a time\.$/ });
  expect(await Promise.all(['basket-a', 'basket-b'].map((sku) => shop.stockOf(sku)))).toEqual([5, 5]);
});
