// One purchase that comes as many requests: how many orders, and how many refunds, each strategy makes of it.

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Idempotency } from '../../../../services/inventory/orders/idempotency/index.ts';
import { type Answer, expectProblem, type TestNode, until } from '../node-under-test.ts';
import { everyWay, type NodePair, newKey, openPair, postKeyed, sellKeyed } from './keyed.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';

const CLICKS = 6;

let shop: Shop;
const pairs = {} as Record<Idempotency, NodePair>;

beforeAll(async () => {
  shop = await openShop();
  for (const way of everyWay) pairs[way] = await openPair(shop, way, { REFUND: 'look-first' });
});

const orderCount = async (sku: string) => (await shop.ordersOf(sku)).length;
const codesOf = (answers: Answer[]) => new Set(answers.map(({ status, body }) => body.code ?? status));

/** Starts the first click on the pair's first node, and resolves when it is inside its sale, where it stays. */
async function clickHeld({ first }: NodePair, sku: string, key: string) {
  await first.lab('PUT', '/next-sale', { untilResumed: true });
  const before = (await first.events()).length;
  const answer = sellKeyed(first, sku, key);
  await until('the first click is inside', async () =>
    (await first.events()).slice(before).some(({ type }) => type === 'read'),
  );
  return { answer, resume: () => first.lab('PUT', '/resume') };
}

describe(`double click: ${CLICKS} identical requests over both nodes, the first of them still running`, () => {
  test.each([
    ['none', { orders: CLICKS, refused: 0 }],
    ['in-process', { orders: 2, refused: CLICKS - 2 }],
    ['lock', { orders: 1, refused: CLICKS - 1 }],
    ['table', { orders: 1, refused: CLICKS - 1 }],
  ] as const)('%s: %j', async (way, { orders, refused }) => {
    const pair = pairs[way];
    const sku = `held-${way}`;
    const key = newKey();
    await supply(pair.first, sku, CLICKS);
    const held = await clickHeld(pair, sku, key);

    const answered: Answer[] = [];
    const others = Array.from({ length: CLICKS - 1 }, async (_, n) => {
      answered.push(await sellKeyed(n % 2 ? pair.first : pair.second, sku, key));
    });
    await until('each of the others is answered, or waits for the lock of the sale', async () => {
      const [first, second] = await Promise.all([pair.first.state(), pair.second.state()]);
      return answered.length + first.waiting + second.waiting === CLICKS - 1;
    });

    // At once, not when the first has ended.
    expect(answered).toHaveLength(refused);
    for (const answer of answered) expectProblem(answer, 'REQUEST_IN_PROGRESS', { definite: false });
    await held.resume();
    await Promise.all(others);
    expect((await held.answer).status).toBe(200);
    expect(await orderCount(sku)).toBe(orders);
    expect(await shop.stockOf(sku)).toBe(CLICKS - orders);
    expect(await shop.intentsOf(sku)).toEqual([]);
  });

  test('a refusal says when to try again', async () => {
    await supply(pairs.table.first, 'later', 5);
    const key = newKey();
    const held = await clickHeld(pairs.table, 'later', key);

    expect((await sellKeyed(pairs.table.second, 'later', key)).headers.get('retry-after')).toBe('1');

    await held.resume();
    await held.answer;
  });
});

describe(`double click: ${CLICKS} identical requests at once, whichever comes first`, () => {
  test.each([['table', 1]] as const)('%s: %i orders', async (way, orders) => {
    const pair = pairs[way];
    const sku = `rush-${way}`;
    const key = newKey();
    await supply(pair.first, sku, CLICKS);

    const answers = await Promise.all(
      Array.from({ length: CLICKS }, (_, n) => sellKeyed(n % 2 ? pair.first : pair.second, sku, key)),
    );

    expect(await orderCount(sku)).toBe(orders);
    const sold = answers.filter(({ status }) => status === 200);
    expect(new Set(sold.map(({ text }) => text)).size).toBe(orders);
    if (orders < CLICKS) {
      expect([...codesOf(answers)].filter((code) => code !== 200 && code !== 'REQUEST_IN_PROGRESS')).toEqual([]);
    }
    expect(await shop.stockOf(sku)).toBe(CLICKS - orders);
  });

  test('table: 3 keys, 4 clicks each: an order for each key', async () => {
    const { first, second } = pairs.table;
    await supply(first, 'keys', 12);
    const keys = Array.from({ length: 3 }, newKey);

    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => sellKeyed(n % 2 ? first : second, 'keys', keys[n % 3] ?? '')),
    );

    expect([...codesOf(answers)].filter((code) => code !== 200 && code !== 'REQUEST_IN_PROGRESS')).toEqual([]);
    expect(await orderCount('keys')).toBe(3);
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(3);
  });
});

/** Sells with the key; the client has gone when the order is written and the answer is not yet sent. */
async function sellAndLoseAnswer(node: TestNode, sku: string, key: string) {
  await node.lab('PUT', '/next-sale', { beforeAnswer: true });
  const client = new AbortController();
  const answer = sellKeyed(node, sku, key, { signal: client.signal });
  answer.catch(() => {});
  await until('its answer is held', async () => (await node.state()).held === 1);
  expect(await orderCount(sku)).toBe(1);
  client.abort();
  await expect(answer).rejects.toThrow();
  await node.lab('PUT', '/resume');
  await until('the sale has ended', async () => (await node.state()).inFlight === 0);
  await until(
    'no lock is left of it',
    async () => (await shop.redis.client.exists(`request:${JSON.parse(key)}`)) === 0,
  );
}

describe('retry after the answer was lost', () => {
  test.each([
    ['none', 'the same node', 2],
    ['none', 'the other node', 2],
    ['in-process', 'the same node', 1],
    ['in-process', 'the other node', 2],
    ['lock', 'the same node', 2],
    ['lock', 'the other node', 2],
    ['table', 'the same node', 1],
    ['table', 'the other node', 1],
  ] as const)('%s, on %s: %i orders', async (way, where, orders) => {
    const { first, second } = pairs[way];
    const sku = `lost-${way}-${where.slice(4, 5)}`;
    const key = newKey();
    await supply(first, sku, 5);
    await sellAndLoseAnswer(first, sku, key);

    const answer = await sellKeyed(where === 'the same node' ? first : second, sku, key);

    expect(answer.status).toBe(200);
    expect(await orderCount(sku)).toBe(orders);
    expect(await shop.stockOf(sku)).toBe(5 - orders);
    const [order] = await shop.ordersOf(sku);
    if (orders === 1)
      expect(answer.body).toMatchObject({ orderId: order?.id, saleId: order?.sale_id, node: order?.node });
    expect(answer.headers.get('idempotent-replayed')).toBe(orders === 1 ? 'true' : null);
  });

  test.each([['table', 1]] as const)('%s, when every node has started anew: %i orders', async (way, orders) => {
    const { open } = pairs[way];
    const leaving = await open();
    const sku = `restart-${way}`;
    const key = newKey();
    await supply(leaving, sku, 5);
    await sellAndLoseAnswer(leaving, sku, key);

    leaving.signal('SIGKILL');
    await leaving.part.ended;
    const answer = await sellKeyed(await open(), sku, key);

    expect(answer.status).toBe(200);
    expect(await orderCount(sku)).toBe(orders);
  });

  test.each(['in-process', 'table'] as const)(
    '%s: the repeat is answered to the byte, as often as it comes',
    async (way) => {
      const { first } = pairs[way];
      await supply(first, `bytes-${way}`, 5);
      const key = newKey();

      const answers = [];
      for (let n = 0; n < 3; n += 1) answers.push(await sellKeyed(first, `bytes-${way}`, key));

      const shown = answers.map(({ status, text, headers }) => [status, text, headers.get('content-type')]);
      expect(shown).toEqual([shown[0], shown[0], shown[0]]);
      expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true', 'true']);
    },
  );
});

/** A paid order of a sku of its own. */
async function payOne({ first }: NodePair, sku: string): Promise<string> {
  await supply(first, sku, 5);
  const { id } = await buy(first, sku);
  expect((await post(first, `/orders/${id}/pay`)).status).toBe(200);
  return id;
}

const refundsOf = async (id: string) => (await shop.paymentsOf(id)).filter(({ kind }) => kind === 'REFUND').length;

describe('refund twice: two identical requests on two nodes, each of them between looking and writing', () => {
  test.each([
    ['none', 2],
    ['in-process', 2],
    ['lock', 1],
    ['table', 1],
  ] as const)('%s, and a refund that looks first: %i refunds', async (way, refunds) => {
    const { first, second } = pairs[way];
    const id = await payOne(pairs[way], `refund-${way}`);
    const key = newKey();
    const blocker = await shop.connect();
    await blocker.query('START TRANSACTION');
    await blocker.query('SELECT id FROM tb_order WHERE id = ? FOR UPDATE', [id]);
    const answered: Answer[] = [];
    const refund = async (node: TestNode) => void answered.push(await postKeyed(node, `/orders/${id}/refund`, key));

    const both = [refund(first)];
    await until('the first has paid', async () => (await shop.waiting('UPDATE tb_order')) === 1);
    both.push(refund(second));
    await until(
      'the second has paid, or is refused',
      async () => (await shop.waiting('UPDATE tb_order')) + answered.length === 2,
    );
    await blocker.query('COMMIT');
    await Promise.all(both);

    // A statement that waits for too long is given up, and then nothing was staged.
    expect(answered.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await refundsOf(id)).toBe(refunds);
    const refused = answered.filter(({ body }) => body.code === 'REQUEST_IN_PROGRESS');
    expect(refused).toHaveLength(2 - refunds);
  });

  test.each([
    ['none', 'ORDER_STATE'],
    ['in-process', 'REFUNDED'],
    ['lock', 'ORDER_STATE'],
    ['table', 'REFUNDED'],
  ] as const)('%s: a repeat when the refund is done is answered %s', async (way, expected) => {
    const { first } = pairs[way];
    const id = await payOne(pairs[way], `again-${way}`);
    const key = newKey();
    const done = await postKeyed(first, `/orders/${id}/refund`, key);

    const again = await postKeyed(first, `/orders/${id}/refund`, key);

    expect(done.body).toMatchObject({ id, status: 'REFUNDED' });
    if (expected === 'REFUNDED') expect(again.text).toBe(done.text);
    else expectProblem(again, 'ORDER_STATE', { detail: /is REFUNDED/ });
    expect(await refundsOf(id)).toBe(1);
  });

  test('table: two keys are two requests of their own, and then only the UPDATE holds: look-first pays twice, conditional once', async () => {
    const careful = await shop.openNode({ REFUND: 'conditional' });
    onTestFinished(careful.part.stop);
    const refunds: number[] = [];
    for (const nodes of [
      [pairs.table.first, pairs.table.second],
      [careful, careful],
    ] as const) {
      const id = await payOne(pairs.table, `two-keys-${refunds.length}`);
      const blocker = await shop.connect();
      await blocker.query('START TRANSACTION');
      await blocker.query('SELECT id FROM tb_order WHERE id = ? FOR UPDATE', [id]);
      const both = nodes.map((node) => postKeyed(node, `/orders/${id}/refund`, newKey()));
      await until('both are at the UPDATE', async () => (await shop.waiting('UPDATE tb_order')) === 2);
      await blocker.query('COMMIT');
      expect((await Promise.all(both)).filter(({ status }) => status >= 500)).toEqual([]);
      refunds.push(await refundsOf(id));
    }
    expect(refunds).toEqual([2, 1]);
  });
});

test('no node has logged a bug or a warning', () => {
  for (const { first, second } of Object.values(pairs)) {
    for (const { lines } of [first, second]) {
      expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
    }
  }
});
