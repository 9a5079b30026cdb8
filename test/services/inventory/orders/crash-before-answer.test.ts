// The first request dies, stands still, or never learns what MySQL has written. What a repeat gets is decided by what is there.

import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem, type TestNode, until } from '../node-under-test.ts';
import { newKey, openPair, postKeyed, sellKeyed } from './keyed.ts';
import { type MysqlLine, openMysqlLine } from './mysql-line.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';

let shop: Shop;
/** Where the repeats go. */
let other: TestNode;
/** It reaches MySQL through a line that breaks where a test says. */
let atLine: TestNode;
let line: MysqlLine;

beforeAll(async () => {
  shop = await openShop();
  line = await openMysqlLine(shop.url);
  [other, atLine] = await Promise.all([shop.openNode(), shop.openNode({ MYSQL_URL: line.url })]);
});

async function whereabouts(sku: string) {
  const [inStock, orders, intents] = await Promise.all([shop.stockOf(sku), shop.ordersOf(sku), shop.intentsOf(sku)]);
  return { inStock, ordered: orders.length, intended: intents.length };
}

/** The time of the first request runs out, though it has no answer. */
const endClaims = () => shop.query('UPDATE tb_request SET claimed_until = claimed_until - INTERVAL 1 HOUR');

/** Starts a sale that stays at a step, and resolves when it is there. */
async function sellUpTo(step: 'beforeOrder' | 'beforeAnswer', node: TestNode, sku: string, key: string) {
  await node.lab('PUT', '/next-sale', { [step]: true });
  const answer = sellKeyed(node, sku, key);
  answer.catch(() => {});
  await until('it is held', async () => (await node.state()).held === 1);
  return { answer, resume: () => node.lab('PUT', '/resume') };
}

async function kill(node: TestNode) {
  node.signal('SIGKILL');
  await node.part.ended;
}

describe('SIGKILL before the answer, the order is written', () => {
  test.each([
    ['none', 2],
    ['in-process', 2],
    ['table', 1],
  ] as const)('%s: %i orders', async (way, orders) => {
    const { first, second } = await openPair(shop, way);
    const [sku, key] = [`written-${way}`, newKey()];
    await supply(first, sku, 5);
    const { answer } = await sellUpTo('beforeAnswer', first, sku, key);

    await kill(first);
    await expect(answer).rejects.toThrow();
    const again = await sellKeyed(second, sku, key);

    expect(again.status).toBe(200);
    expect(await whereabouts(sku)).toEqual({ inStock: 5 - orders, ordered: orders, intended: 0 });
    const [order] = await shop.ordersOf(sku);
    if (orders === 1) expect(again.body).toMatchObject({ orderId: order?.id, node: first.name });
  });

  test('lock: refused until the lock of the dead node ends, and then a second order', async () => {
    const { first, second } = await openPair(shop, 'lock');
    const key = newKey();
    await supply(first, 'written-lock', 5);
    await sellUpTo('beforeAnswer', first, 'written-lock', key);
    await kill(first);

    expectProblem(await sellKeyed(second, 'written-lock', key), 'REQUEST_IN_PROGRESS', { definite: false });
    // As the end of its lease does.
    expect(await shop.redis.client.del(`request:${JSON.parse(key)}`)).toBe(1);
    expect((await sellKeyed(second, 'written-lock', key)).status).toBe(200);

    expect(await whereabouts('written-lock')).toEqual({ inStock: 3, ordered: 2, intended: 0 });
  });
});

describe('table: the unit is taken, and no order is written', () => {
  test('SIGKILL: refused while the claim lasts, then one order; the intent tells of the other unit', async () => {
    const doomed = await shop.openNode();
    const key = newKey();
    await supply(doomed, 'taken', 5);
    await sellUpTo('beforeOrder', doomed, 'taken', key);
    await kill(doomed);

    expectProblem(await sellKeyed(other, 'taken', key), 'REQUEST_IN_PROGRESS', { definite: false });
    await endClaims();
    const again = await sellKeyed(other, 'taken', key);

    expect(again.body).toMatchObject({ outcome: 'sold', node: other.name });
    expect(await whereabouts('taken')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
    expect((await sellKeyed(other, 'taken', key)).text).toBe(again.text);
    expect(await whereabouts('taken')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
  });

  test('the first was only slow: it finds that its claim is gone, puts its unit back, and makes no order', async () => {
    const key = newKey();
    await supply(atLine, 'slow', 5);
    const { answer, resume } = await sellUpTo('beforeOrder', atLine, 'slow', key);
    await endClaims();
    const heir = await sellKeyed(other, 'slow', key);
    expect(heir.body).toMatchObject({ outcome: 'sold', node: other.name });

    await resume();

    // The heir has sold with the same key, so this buyer must not read that nothing was sold.
    expectProblem(await answer, 'ORDER_FAILED', { definite: false, detail: /the unit is back in stock\.$/ });
    expect(await whereabouts('slow')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
    for (const node of [atLine, other]) expect((await sellKeyed(node, 'slow', key)).text).toBe(heir.text);
  });

  test('the order is certainly not written: the key is free at once, and a repeat sells', async () => {
    const key = newKey();
    await supply(atLine, 'refused', 5);
    line.cutAt('INSERT INTO tb_order', 'before');
    expectProblem(await sellKeyed(atLine, 'refused', key), 'ORDER_FAILED', { detail: /is back in stock/ });

    expect((await sellKeyed(other, 'refused', key)).status).toBe(200);

    expect(await whereabouts('refused')).toMatchObject({ inStock: 4, ordered: 1 });
  });

  test('the answer can’t be stored: there is no order, either', async () => {
    const key = newKey();
    await supply(atLine, 'unstored', 5);
    line.cutAt('UPDATE tb_request SET status', 'before');

    expectProblem(await sellKeyed(atLine, 'unstored', key), 'ORDER_FAILED', { detail: /is back in stock/ });

    await until('the intent is forgotten', async () => (await shop.intentsOf('unstored')).length === 0);
    expect(await whereabouts('unstored')).toEqual({ inStock: 5, ordered: 0, intended: 0 });
    expect((await sellKeyed(other, 'unstored', key)).status).toBe(200);
    expect(await whereabouts('unstored')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
  });
});

describe('table: nobody has heard what became of COMMIT', () => {
  test('it has arrived: the first is in doubt, and a repeat gets the order', async () => {
    const key = newKey();
    await supply(atLine, 'answered', 5);
    line.cutAt('COMMIT', 'answered');
    expectProblem(await sellKeyed(atLine, 'answered', key), 'ORDER_FAILED', { definite: false });

    const again = await sellKeyed(other, 'answered', key);

    const [order] = await shop.ordersOf('answered');
    expect(again.body).toMatchObject({ outcome: 'sold', orderId: order?.id, node: atLine.name });
    expect(await whereabouts('answered')).toEqual({ inStock: 4, ordered: 1, intended: 0 });
  });

  test('it is lost: the first is in doubt, and a repeat sells', async () => {
    const key = newKey();
    await supply(atLine, 'before', 5);
    line.cutAt('COMMIT', 'before');
    expectProblem(await sellKeyed(atLine, 'before', key), 'ORDER_FAILED', { definite: false });
    await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);

    const again = await sellKeyed(other, 'before', key);

    expect(again.body).toMatchObject({ outcome: 'sold', node: other.name });
    expect(await whereabouts('before')).toEqual({ inStock: 3, ordered: 1, intended: 1 });
  });
});

describe('table: a refund', () => {
  async function payOne(sku: string): Promise<string> {
    await supply(other, sku, 5);
    const { id } = await buy(other, sku);
    await post(other, `/orders/${id}/pay`);
    return id;
  }
  const isRefunded = async (id: string) =>
    (await shop.query("SELECT id FROM tb_order WHERE id = ? AND status = 'REFUNDED'", [id])).length === 1;
  const paymentsOf = async (id: string) => (await shop.paymentsOf(id)).map(({ kind }) => kind);

  test('SIGKILL between COMMIT and the answer: a repeat gets the answer, and there is one refund', async () => {
    const doomed = await shop.openNode({ MYSQL_URL: line.url });
    const [id, key] = [await payOne('refund-killed'), newKey()];
    line.keepAnswerTo('COMMIT');
    const answer = postKeyed(doomed, `/orders/${id}/refund`, key);
    answer.catch(() => {});
    await until('the refund is written', () => isRefunded(id));

    await kill(doomed);
    await expect(answer).rejects.toThrow();
    const again = await postKeyed(other, `/orders/${id}/refund`, key);

    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id, status: 'REFUNDED' });
    expect(await paymentsOf(id)).toEqual(['PAYMENT', 'REFUND']);
    // Another key is a request of its own.
    expectProblem(await postKeyed(other, `/orders/${id}/refund`, newKey()), 'ORDER_STATE');
  });

  test.each([
    ['the answer to COMMIT is lost', 'COMMIT', 'answered', { definite: false }],
    ['COMMIT is lost', 'COMMIT', 'before', { definite: false }],
  ] as const)(
    '%s: a repeat is answered REFUNDED, and there is one refund',
    async (_what, statement, when, expected) => {
      const [id, key] = [await payOne(`refund-${statement.slice(0, 3)}-${when}`), newKey()];
      line.cutAt(statement, when);
      expectProblem(await postKeyed(atLine, `/orders/${id}/refund`, key), 'STORE_UNAVAILABLE', expected);
      await until('MySQL has noticed', async () => (await shop.running('COMMIT')) === 0);

      const again = await postKeyed(other, `/orders/${id}/refund`, key);

      expect(again.body).toMatchObject({ id, status: 'REFUNDED' });
      expect(await paymentsOf(id)).toEqual(['PAYMENT', 'REFUND']);
    },
  );
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [other, atLine]) expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
});
