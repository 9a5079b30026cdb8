// What a key means in each way, how long it is known, and what is answered when it is missing, bad, or used for something else. What a
// repeat gets when a server or a node goes away is in two-stores.test.ts.

import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createKeyMemory } from '../../../../services/inventory/orders/idempotency/key-memory.ts';
import { saleLifeMs } from '../../../../services/inventory/settings/limits.ts';
import { type Answer, expectProblem, startHeldSale, type TestNode, until } from '../node-under-test.ts';
import { newKey, postKeyed, sellKeyed } from './keyed.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';

const CLICKS = 6;

let shop: Shop;
const pairs = {} as Record<'in-process' | 'lock' | 'table', { first: TestNode; second: TestNode }>;
/** It has the default settings. */
let node: TestNode;
/** It refuses a request without a key, and keeps each for a second. */
let strict: TestNode;

beforeAll(async () => {
  shop = await openShop();
  const openPair = async (way: keyof typeof pairs) => {
    const [first, second] = await Promise.all([1, 2].map(() => shop.openNode({ IDEMPOTENCY: way })));
    pairs[way] = { first, second } as { first: TestNode; second: TestNode };
  };
  [strict] = await Promise.all([
    shop.openNode({ IDEMPOTENCY_REQUIRED: 'on', IDEMPOTENCY_KEEP_MS: '1000' }),
    ...(['in-process', 'lock', 'table'] as const).map(openPair),
  ]);
  node = pairs.table.first;
  await supply(node, '001', 1000);
});

const requestsOf = (key: string) =>
  shop.query(
    `SELECT TIMESTAMPDIFF(SECOND, created_at, claimed_until) AS claimed FROM tb_request WHERE request_key = ?`,
    [JSON.parse(key)],
  );
const stock = () => shop.stockOf('001');
/** The time of a key is over. */
const endTime = (key: string) =>
  shop.query("UPDATE tb_request SET kept_until = '2026-01-01' WHERE request_key = ?", [JSON.parse(key)]);

// Identical requests over both nodes, the first of them still running.
test.each([
  ['in-process', { orders: 2, refused: CLICKS - 2 }],
  ['lock', { orders: 1, refused: CLICKS - 1 }],
  ['table', { orders: 1, refused: CLICKS - 1 }],
] as const)('double click, %s: %j', async (way, { orders, refused }) => {
  const pair = pairs[way];
  const [sku, key] = [`held-${way}`, newKey()];
  await supply(pair.first, sku, CLICKS);
  const held = await startHeldSale(pair.first, sku, key);

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
  for (const answer of answered) {
    expectProblem(answer, 'REQUEST_IN_PROGRESS', { definite: false });
    expect(answer.headers.get('retry-after')).toBe('1');
  }
  await held.resume();
  await Promise.all(others);
  expect((await held.answer).status).toBe(200);
  expect(await shop.ordersOf(sku)).toHaveLength(orders);
  expect(await shop.stockOf(sku)).toBe(CLICKS - orders);
});

test.each([
  ['in-process', 'second', 2],
  ['lock', 'first', 2],
  ['table', 'second', 1],
] as const)('a repeat after the answer was lost: %s, on the %s node: %i orders', async (way, where, orders) => {
  const { first } = pairs[way];
  const [sku, key, client] = [`lost-${way}-${where}`, newKey(), new AbortController()];
  await supply(first, sku, 5);
  await first.lab('PUT', '/next-sale', { beforeAnswer: true });
  const lost = sellKeyed(first, sku, key, { signal: client.signal });
  lost.catch(() => {});
  await until('its answer is held', async () => (await first.state()).held === 1);
  client.abort();
  await first.lab('PUT', '/resume');
  await until('the request has ended', async () => (await first.state()).answering === 0);

  const answer = await sellKeyed(pairs[way][where], sku, key);

  expect(answer.status).toBe(200);
  const made = await shop.ordersOf(sku);
  expect(made).toHaveLength(orders);
  expect(await shop.stockOf(sku)).toBe(5 - orders);
  const [order] = made;
  if (orders === 1) {
    expect(answer.body).toMatchObject({ orderId: order?.id, node: order?.node });
  }
  expect(answer.headers.get('idempotent-replayed')).toBe(orders === 1 ? 'true' : null);
});

test.each(['in-process', 'table'] as const)('%s: 422, and the first answer is still there', async (way) => {
  const at = pairs[way].first;
  const key = newKey();
  await supply(at, `second-${way}`, 5);
  const { id } = await buy(at, '001');
  await post(at, `/orders/${id}/pay`);
  const sold = await sellKeyed(at, '001', key);

  for (const other of [
    await sellKeyed(at, `second-${way}`, key),
    await postKeyed(at, `/orders/${id}/refund`, key),
    await postKeyed(at, `/orders/${sold.body.orderId}/pay`, key),
  ]) {
    expectProblem(other, 'IDEMPOTENCY_KEY_REUSED', { detail: /was first sent with "sale 001", and now with "/ });
  }

  expect(await shop.stockOf(`second-${way}`)).toBe(5);
  expect((await shop.paymentsOf(id)).map(({ kind }) => kind)).toEqual(['PAYMENT']);
  expect((await sellKeyed(at, '001', key)).text).toBe(sold.text);
});

test('table: the same key for something else takes nothing of MySQL where its answer is known', async () => {
  const { node: far, toMysql } = await shop.openFarNode();
  const [own, others] = [newKey(), newKey()];
  await supply(far, 'far', 5);
  await sellKeyed(far, 'far', own);
  await sellKeyed(node, '001', others);
  expectProblem(await sellKeyed(far, 'far', others), 'IDEMPOTENCY_KEY_REUSED');
  toMysql.cut();

  for (const [sku, key] of [
    ['001', own],
    ['far', others],
  ] as const)
    expectProblem(await sellKeyed(far, sku, key), 'IDEMPOTENCY_KEY_REUSED');
});

test('where a key is required each call that changes something is refused without one, and does nothing', async () => {
  const { id } = await buy(node, '001');
  await post(node, `/orders/${id}/pay`);
  const before = await stock();

  const refused = [
    await post(strict, '/inventory/sale'),
    await strict.get('/inventory/sale'),
    await post(strict, `/orders/${id}/pay`),
    await post(strict, `/orders/${id}/refund`),
  ];

  for (const answer of refused) expectProblem(answer, 'IDEMPOTENCY_KEY_MISSING', { detail: /Idempotency-Key/ });
  expectProblem(await sellKeyed(strict, '001', '"a'), 'IDEMPOTENCY_KEY_INVALID');
  expect(await stock()).toBe(before);
  expect((await strict.get(`/orders/${id}`)).body.status).toBe('PAID');
  expect((await strict.get('/inventory')).status).toBe(200);
  expect((await sellKeyed(strict, '001', newKey())).status).toBe(200);
});

describe('the first was refused', () => {
  test.each(['in-process', 'table'] as const)('%s: sold out, for good: a new key sells', async (way) => {
    const at = pairs[way].first;
    const [sku, key] = [`empty-${way}`, newKey()];
    await supply(at, sku, 0);
    const soldOut = await sellKeyed(at, sku, key);
    expectProblem(soldOut, 'OUT_OF_STOCK');
    await supply(at, sku, 5);

    const again = await sellKeyed(at, sku, key);

    expect([again.status, again.text]).toEqual([409, soldOut.text]);
    expect(again.headers.get('content-type')).toBe(soldOut.headers.get('content-type'));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await sellKeyed(at, sku, newKey())).status).toBe(200);
  });

  test.each(['in-process', 'table'] as const)('%s: for want of the lock: a repeat does the work', async (way) => {
    const at = pairs[way].first;
    const [sku, key] = [`locked-${way}`, newKey()];
    const lockKey = `{inventory${sku}}:lock:8-auto-renew`;
    await supply(at, sku, 5);
    await at.lab('PUT', '/lock-version', { version: '8', waitTimeoutMs: 100 });
    await shop.redis.client.hset(lockKey, 'somebody', 1);
    expectProblem(await sellKeyed(at, sku, key), 'LOCK_WAIT_TIMEOUT');
    await shop.redis.client.del(lockKey);
    await at.lab('PUT', '/lock-version', { version: '8' });

    expect((await sellKeyed(at, sku, key)).status).toBe(200);

    expect(await shop.stockOf(sku)).toBe(4);
  });
});

test.each([{}, { waitTimeoutMs: 600_000 }])(
  'table: a claim ends when its sale can no longer live: %o',
  async (timing) => {
    await node.lab('PUT', '/lock-version', { version: '8', ...timing });
    const key = newKey();
    await sellKeyed(node, '001', key);

    const { waitTimeoutMs } = { waitTimeoutMs: 10_000, ...timing };
    expect((await requestsOf(key))[0]?.claimed).toBe(saleLifeMs(waitTimeoutMs) / 1_000);
    await node.lab('PUT', '/lock-version', { version: '8' });
  },
);

describe('a key is kept for IDEMPOTENCY_KEEP_MS', () => {
  test('table: 5 repeats at once when the time is over: the key is as new, and one of them sells', async () => {
    const key = newKey();
    await supply(node, 'old', 8);
    const sold = await sellKeyed(node, 'old', key);
    await endTime(key);

    await Promise.all(Array.from({ length: 5 }, () => sellKeyed(node, 'old', key)));

    expect(await shop.ordersOf('old')).toHaveLength(2);
    expect((await sellKeyed(node, 'old', key)).body.orderId).not.toBe(sold.body.orderId);
  });

  test('table: a node deletes what is over, and nothing else', async () => {
    const [old, young] = [newKey(), newKey()];
    await sellKeyed(node, '001', old);
    await sellKeyed(node, '001', young);

    await endTime(old);

    // It looks every second.
    await until('the old key is gone', async () => (await requestsOf(old)).length === 0);
    expect(await requestsOf(young)).toHaveLength(1);
  });

  test('in-process: until the time is over', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const memory = createKeyMemory<string>(10);
    memory.set('key', 'answer', 1_000);

    vi.advanceTimersByTime(999);
    expect(memory.get('key')).toBe('answer');
    vi.advanceTimersByTime(1);
    expect(memory.get('key')).toBeUndefined();
  });
});

test('no node has logged a bug or a warning', () => {
  for (const { first, second } of Object.values(pairs)) {
    for (const { lines } of [first, second, strict]) {
      expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
    }
  }
});
