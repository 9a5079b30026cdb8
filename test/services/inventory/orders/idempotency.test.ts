// What a key means, how long it is known, and what is answered when it is missing, bad, or used for something else.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Servers } from '../../../../locks/lock.ts';
import { startNginx } from '../../../../scripts/stack/nginx.ts';
import { makeTempDir, projectDir } from '../../../../scripts/stack/parts.ts';
import { createOnce, MOST_KEYS } from '../../../../services/inventory/orders/idempotency/in-process.ts';
import type { Idempotency } from '../../../../services/inventory/orders/idempotency/index.ts';
import { type Answer, ask, expectProblem, jsonBody, startNode, type TestNode, until } from '../node-under-test.ts';
import { everyWay, type NodePair, newKey, openPair, postKeyed, sellKeyed } from './keyed.ts';
import { buy, openShop, post, type Shop, supply } from './own-shop.ts';

const nobody = '00000000-0000-4000-8000-000000000000';

let shop: Shop;
/** It has the default settings. */
let node: TestNode;
let inProcess: TestNode;
/** It refuses a request without a key. */
let strict: TestNode;

beforeAll(async () => {
  shop = await openShop();
  [node, inProcess, strict] = await Promise.all([
    shop.openNode(),
    shop.openNode({ IDEMPOTENCY: 'in-process' }),
    shop.openNode({ IDEMPOTENCY_REQUIRED: 'on' }),
  ]);
  await supply(node, '001', 1000);
});

const requestsOf = (key: string) =>
  shop.query(
    `SELECT fingerprint, status, body, TIMESTAMPDIFF(SECOND, created_at, kept_until) AS kept,
      TIMESTAMPDIFF(SECOND, created_at, claimed_until) AS claimed FROM tb_request WHERE request_key = ?`,
    [JSON.parse(key)],
  );
const stock = () => shop.stockOf('001');
/** What a node that keeps its keys in its own memory has no use for. */
const onceOptions = { orders: undefined, leaseMs: 1_000, waitTimeoutMs: 1_000 };

describe('the same purchase', () => {
  test('with orders a node keeps the keys in the table: the row has the answer, to the byte', async () => {
    const key = newKey();

    const sold = await sellKeyed(node, '001', key);

    const [row] = await requestsOf(key);
    expect(row).toMatchObject({ fingerprint: 'sale 001', status: 200, body: sold.text, kept: 86_400, claimed: 40 });
  });

  test('a key with quotes is kept as it is, also by a MySQL to which a backslash is a sign like others', async () => {
    const key = String.raw`"it's \\' OR 'x' = 'x"`;
    await shop.query("SET GLOBAL sql_mode = CONCAT(@@GLOBAL.sql_mode, ',NO_BACKSLASH_ESCAPES')");
    onTestFinished(async () => {
      await shop.query("SET GLOBAL sql_mode = REPLACE(@@GLOBAL.sql_mode, 'NO_BACKSLASH_ESCAPES', '')");
    });
    const there = await shop.openNode();

    const sold = await sellKeyed(there, '001', key);

    expect(sold.status).toBe(200);
    const [row] = await shop.query('SELECT body FROM tb_request WHERE request_key = ?', [Buffer.from(JSON.parse(key))]);
    expect(row?.body).toBe(sold.text);
    expect((await sellKeyed(there, '001', key)).text).toBe(sold.text);
  });

  test('in-process: a node remembers so many keys and no more, and the newest of them', async () => {
    const once = createOnce({ servers: () => ({}) as Servers, ...onceOptions, keepMs: 3_600_000 });
    const ask = (n: number) => once({ key: String(n), fingerprint: 'sale 001' }, async () => ({ n }));

    for (let n = 0; n <= MOST_KEYS; n += 1) await ask(n);

    expect([(await ask(1)).isRepeat, (await ask(MOST_KEYS)).isRepeat]).toEqual([true, true]);
    expect((await ask(0)).isRepeat).toBeUndefined();
  });

  test('the sku in the query, in the body, or left out, with POST or GET: it is the same sale', async () => {
    const key = newKey();
    const before = await stock();
    const path = '/inventory/sale';

    const answers = [
      await postKeyed(node, path, key),
      await postKeyed(node, `${path}?sku=001`, key),
      await postKeyed(node, path, key, {
        ...jsonBody({ sku: '001' }),
        headers: { 'content-type': 'application/json' },
      }),
      await postKeyed(node, path, key, { method: 'GET' }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await stock()).toBe(before - 1);
  });

  test('with and without quotes it is the same key; in other letters, or with a space, another', async () => {
    const before = await stock();
    const quoted = await sellKeyed(node, '001', '"Key-1"');

    expect((await sellKeyed(node, '001', 'Key-1')).text).toBe(quoted.text);
    expect(await stock()).toBe(before - 1);
    for (const other of ['"key-1"', '"Key-1 "', '"Key-1\\""', '"Key-1\\\\"']) {
      expect((await sellKeyed(node, '001', other)).body.orderId).not.toBe(quoted.body.orderId);
    }
    expect(await stock()).toBe(before - 5);
  });

  test('the longest key, of signs that SQL and JSON treat with care', async () => {
    const key = `"${String.raw`\"\\'%_;--`.padEnd(257, '`')}"`;
    expect(JSON.parse(key)).toHaveLength(255);

    const sold = await sellKeyed(node, '001', key);

    expect(sold.status).toBe(200);
    expect((await sellKeyed(node, '001', key)).text).toBe(sold.text);
    expect(await requestsOf(key)).toHaveLength(1);
  });

  test('a payment that is repeated is answered as before', async () => {
    const { id } = await buy(node, '001');
    const key = newKey();
    const paid = await postKeyed(node, `/orders/${id}/pay`, key);
    await postKeyed(node, `/orders/${id}/refund`, newKey());

    expect((await postKeyed(node, `/orders/${id}/pay`, key)).text).toBe(paid.text);
    expect(paid.body.status).toBe('PAID');
    expect((await shop.paymentsOf(id)).map(({ kind }) => kind)).toEqual(['PAYMENT', 'REFUND']);
  });
});

describe('the same key for something else', () => {
  test.each(['in-process', 'table'])('%s: 422, and the first answer is still there', async (way) => {
    const at = way === 'table' ? node : inProcess;
    const key = newKey();
    await supply(at, `second-${way}`, 5);
    const { id } = await buy(at, '001');
    await post(at, `/orders/${id}/pay`);
    const sold = await sellKeyed(at, '001', key);

    const others = [
      await sellKeyed(at, `second-${way}`, key),
      await postKeyed(at, `/orders/${id}/refund`, key),
      await postKeyed(at, `/orders/${sold.body.orderId}/pay`, key),
    ];

    for (const other of others) {
      expectProblem(other, 'IDEMPOTENCY_KEY_REUSED', { detail: /was sent with "sale 001", and now with "/ });
    }
    expect(await shop.stockOf(`second-${way}`)).toBe(5);
    expect((await shop.paymentsOf(id)).map(({ kind }) => kind)).toEqual(['PAYMENT']);
    expect((await sellKeyed(at, '001', key)).text).toBe(sold.text);
  });

  test('422 also while the first runs', async () => {
    const at = node;
    const key = newKey();
    await at.lab('PUT', '/next-sale', { untilResumed: true });
    const before = (await at.events()).length;
    const first = sellKeyed(at, '001', key);
    await until('the first is inside', async () =>
      (await at.events()).slice(before).some(({ type }) => type === 'read'),
    );

    expectProblem(await sellKeyed(at, '002', key), 'IDEMPOTENCY_KEY_REUSED');

    await at.lab('PUT', '/resume');
    expect((await first).status).toBe(200);
  });
});

describe('no key, or a bad one', () => {
  test('where one is required each call that changes something is refused without one, and does nothing', async () => {
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
    expect(await stock()).toBe(before);
    expect((await strict.get(`/orders/${id}`)).body.status).toBe('PAID');
    expect((await strict.get('/inventory')).status).toBe(200);
    expect((await sellKeyed(strict, '001', newKey())).status).toBe(200);
  });

  const bad = ['', '""', '"a', '"a", "b"', 'a b', '"a";v=1', '"ü"', 'k'.repeat(256), 'k'.repeat(12_000)];

  test.each(['none', 'table'] as const)(
    '%s: a bad key is refused, and nothing is done or written down',
    async (way) => {
      const at = await shop.openNode({ IDEMPOTENCY: way });
      onTestFinished(at.part.stop);
      const [before, rows] = [await stock(), await shop.query('SELECT request_key FROM tb_request')];

      for (const key of bad) expectProblem(await sellKeyed(at, '001', key), 'IDEMPOTENCY_KEY_INVALID');

      expect(await stock()).toBe(before);
      expect(await shop.query('SELECT request_key FROM tb_request')).toEqual(rows);
      expect((await at.state()).counts.received).toBe(0);
      expect(at.lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
    },
  );

  test('a request that is bad in itself leaves its key free', async () => {
    const key = newKey();
    expectProblem(await sellKeyed(node, 'no%20sku', key), 'BAD_REQUEST');
    expectProblem(await postKeyed(node, '/orders/7/refund', key), 'BAD_REQUEST');

    expect(await requestsOf(key)).toEqual([]);
    expect((await sellKeyed(node, '001', key)).status).toBe(200);
  });
});

describe('the first was refused', () => {
  test.each(['in-process', 'table'])('%s: sold out, for good: the key is answered so, a new key sells', async (way) => {
    const at = way === 'table' ? node : inProcess;
    const sku = `empty-${way}`;
    await supply(at, sku, 0);
    const key = newKey();
    const soldOut = await sellKeyed(at, sku, key);
    expectProblem(soldOut, 'OUT_OF_STOCK');
    await supply(at, sku, 5);

    const again = await sellKeyed(at, sku, key);

    expect([again.status, again.text]).toEqual([409, soldOut.text]);
    expect(again.headers.get('content-type')).toBe(soldOut.headers.get('content-type'));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await sellKeyed(at, sku, newKey())).status).toBe(200);
    expect(await shop.stockOf(sku)).toBe(4);
  });

  test.each(['NOT_FOUND', 'ORDER_STATE'] as const)('a refund, for good: %s is answered again', async (code) => {
    const id = code === 'NOT_FOUND' ? nobody : (await buy(node, '001')).id;
    const [key, path] = [newKey(), `/orders/${id}/refund`];
    const refused = await postKeyed(node, path, key);
    expectProblem(refused, code);

    const again = await postKeyed(node, path, key);

    expect([again.status, again.text]).toEqual([refused.status, refused.text]);
  });

  test.each(['in-process', 'table'])('%s: for want of the lock: a repeat does the work', async (way) => {
    const at = way === 'table' ? node : inProcess;
    const sku = `locked-${way}`;
    await supply(at, sku, 5);
    await at.lab('PUT', '/lock-version', { version: '8', waitTimeoutMs: 100 });
    await shop.redis.client.hset(`{inventory${sku}}:lock:8-auto-renew`, 'somebody', 1);
    const key = newKey();
    expectProblem(await sellKeyed(at, sku, key), 'LOCK_WAIT_TIMEOUT');
    await shop.redis.client.del(`{inventory${sku}}:lock:8-auto-renew`);

    expect((await sellKeyed(at, sku, key)).status).toBe(200);

    await at.lab('PUT', '/lock-version', { version: '8' });
    expect(await shop.stockOf(sku)).toBe(4);
  });

  test('table: because its client went away while it waited: a repeat does the work', async () => {
    await supply(node, 'gone', 5);
    await shop.redis.client.hset('{inventorygone}:lock:8-auto-renew', 'somebody', 1);
    const [key, client] = [newKey(), new AbortController()];
    const answer = sellKeyed(node, 'gone', key, { signal: client.signal });
    answer.catch(() => {});
    await until('it waits', async () => (await node.state()).waiting === 1 && (await requestsOf(key)).length === 1);
    client.abort();
    await until('the key is free', async () => (await requestsOf(key)).length === 0);
    await shop.redis.client.del('{inventorygone}:lock:8-auto-renew');

    expect((await sellKeyed(node, 'gone', key)).status).toBe(200);
    expect(await shop.ordersOf('gone')).toHaveLength(1);
  });
});

test('a request whose client has hung up is being answered until its work has ended', async () => {
  const underWay = async () => (await strict.lab('GET', '/answers')).body;
  await supply(strict, 'hung-up', 5);
  await strict.lab('PUT', '/next-sale', { beforeAnswer: true });
  const client = new AbortController();
  const answer = sellKeyed(strict, 'hung-up', newKey(), { signal: client.signal });
  answer.catch(() => {});
  await until('its answer is held', async () => (await strict.state()).held === 1);
  client.abort();
  await expect(answer).rejects.toThrow();

  expect(await underWay()).toEqual({ underWay: 1 });

  await strict.lab('PUT', '/resume');
  await until('it has ended', async () => (await underWay())['underWay'] === 0);
  expectProblem(await strict.get('/answers'), 'NOT_FOUND');
});

describe('a key is kept for IDEMPOTENCY_KEEP_MS', () => {
  test('table: when the time is over, the key is as new', async () => {
    const key = newKey();
    const sold = await sellKeyed(node, '001', key);
    await shop.query("UPDATE tb_request SET kept_until = '2026-01-01' WHERE request_key = ?", [JSON.parse(key)]);

    const again = await sellKeyed(node, '001', key);

    expect(again.status).toBe(200);
    expect(again.body.orderId).not.toBe(sold.body.orderId);
    expect((await sellKeyed(node, '001', key)).text).toBe(again.text);
  });

  test('table: 5 repeats at once when the time is over: one of them sells', async () => {
    const key = newKey();
    await supply(node, 'old', 8);
    await sellKeyed(node, 'old', key);
    await shop.query("UPDATE tb_request SET kept_until = '2026-01-01' WHERE request_key = ?", [JSON.parse(key)]);

    await Promise.all(Array.from({ length: 5 }, () => sellKeyed(node, 'old', key)));

    expect(await shop.ordersOf('old')).toHaveLength(2);
  });

  test('table: the first is still running when the time is over: it makes no order, a repeat does', async () => {
    const key = newKey();
    await supply(node, 'late', 5);
    await node.lab('PUT', '/next-sale', { beforeOrder: true });
    const first = sellKeyed(node, 'late', key);
    await until('its order is held', async () => (await node.state()).held === 1);
    expect(await shop.stockOf('late')).toBe(4);
    await shop.query("UPDATE tb_request SET kept_until = '2026-01-01' WHERE request_key = ?", [JSON.parse(key)]);
    const again = await sellKeyed(strict, 'late', key);
    await node.lab('PUT', '/resume');

    expectProblem(await first, 'ORDER_FAILED', { definite: false, detail: /is back in stock/ });
    expect(await shop.ordersOf('late')).toMatchObject([{ id: again.body.orderId }]);
  });

  test('table: a node deletes what is over, and nothing else', async () => {
    const [old, young] = [newKey(), newKey()];
    await sellKeyed(node, '001', old);
    await sellKeyed(node, '001', young);
    await shop.query("UPDATE tb_request SET kept_until = '2026-01-01' WHERE request_key = ?", [JSON.parse(old)]);

    // It looks every second then.
    const tidy = await shop.openNode({ IDEMPOTENCY_KEEP_MS: '1000' });
    onTestFinished(tidy.part.stop);
    await until('the old key is gone', async () => (await requestsOf(old)).length === 0);

    expect(await requestsOf(young)).toHaveLength(1);
  });
});

test('in-process: a key is kept for IDEMPOTENCY_KEEP_MS', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const once = createOnce({ servers: () => ({}) as Servers, ...onceOptions, keepMs: 1_000 });
  const ask = async () => (await once({ key: 'key', fingerprint: 'sale 001' }, async () => ({}))).isRepeat;

  await ask();
  vi.advanceTimersByTime(999);
  expect(await ask()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await ask()).toBeUndefined();
});

describe('a server is away', () => {
  test('lock: without Redis nothing is done', async () => {
    const { node: at, toRedis } = await shop.openFarNode({ IDEMPOTENCY: 'lock' });
    const { id } = await buy(at, '001');
    await post(at, `/orders/${id}/pay`);
    const key = newKey();
    toRedis.cut('silent');
    const answer = await postKeyed(at, `/orders/${id}/refund`, key);
    toRedis.restore();

    expectProblem(answer, 'STORE_UNAVAILABLE', { detail: /^Redis/ });
    expect((await at.get(`/orders/${id}`)).body.status).toBe('PAID');
  });

  test('table: without MySQL nothing is done, and a repeat sells when it is back', async () => {
    const { node: at, toMysql } = await shop.openFarNode();
    const [key, before] = [newKey(), await stock()];
    toMysql.cut();
    expectProblem(await sellKeyed(at, '001', key), 'STORE_UNAVAILABLE', { detail: /^MySQL/ });
    expect(await stock()).toBe(before);
    toMysql.restore();

    expect((await sellKeyed(at, '001', key)).status).toBe(200);

    expect(await stock()).toBe(before - 1);
  });
});

describe('a shop without orders', () => {
  test.each([
    [undefined, 3],
    ['in-process', 1],
  ] as const)('%s: 3 requests with one key sell %i units', async (way, sold) => {
    const plain = await startNode(shop.redis.url, way && { IDEMPOTENCY: way });
    onTestFinished(plain.part.stop);
    const [key, sku] = [newKey(), `plain-${way}`];
    await supply(plain, sku, 10);

    for (let n = 0; n < 3; n += 1) expect((await sellKeyed(plain, sku, key)).status).toBe(200);

    expect(await shop.stockOf(sku)).toBe(10 - sold);
  });
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [node, inProcess, strict]) {
    expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
  }
});

describe('one purchase that comes as many requests', () => {
  const CLICKS = 6;

  const pairs = {} as Record<Idempotency, NodePair>;

  beforeAll(async () => {
    for (const way of everyWay) pairs[way] = await openPair(shop, way, { REFUND: 'look-first' });
  });

  const orderCount = async (sku: string) => (await shop.ordersOf(sku)).length;
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
      for (const answer of answered) {
        expectProblem(answer, 'REQUEST_IN_PROGRESS', { definite: false });
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      await held.resume();
      await Promise.all(others);
      expect((await held.answer).status).toBe(200);
      expect(await orderCount(sku)).toBe(orders);
      expect(await shop.stockOf(sku)).toBe(CLICKS - orders);
      expect(await shop.intentsOf(sku)).toEqual([]);
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
});

describe('one click, and an nginx that sends it to the other node when the first has died', () => {
  /** nginx before two nodes. Both will make their sale and then keep the answer to themselves. */
  async function openFront(sku: string, sendsAgain: boolean) {
    const { first, second } = await openPair(shop, 'table');
    const temp = makeTempDir();
    onTestFinished(temp.remove);
    const nodes = [first, second].map(({ port }) => `127.0.0.1:${port}`);
    const nginx = await startNginx({ nodes, dir: temp.dir, sendsAgain });
    onTestFinished(nginx.part.stop);
    await supply(first, sku, 5);
    for (const node of [first, second]) await node.lab('PUT', '/next-sale', { beforeAnswer: true });
    return { url: nginx.url, nodes: [first, second], accessLog: nginx.accessLog };
  }

  /** One click. The node that it goes to dies when it has sold, and before it has answered. */
  async function clickAndKill({ url, nodes }: { url: string; nodes: TestNode[] }, sku: string, headers = {}) {
    const click = ask(`${url}/inventory/sale?sku=${sku}`, { method: 'POST', headers });
    await until('the order is written', async () => (await shop.ordersOf(sku)).length === 1);
    const [order] = await shop.ordersOf(sku);
    // The other one is to answer.
    for (const node of nodes) if (node.name !== order?.node) await node.lab('PUT', '/next-sale', {});
    nodes.find(({ name }) => name === order?.node)?.signal('SIGKILL');
    return { order, answer: (await click) as Answer };
  }

  describe('the shipped configuration', () => {
    test('never sends a sale again', () => {
      const template = readFileSync(join(projectDir, 'nginx/nginx.conf.template'), 'utf8');
      expect([...template.matchAll(/^ *(proxy_next_upstream .*)$/gm)].map(([, line]) => line)).toEqual([
        'proxy_next_upstream off;',
      ]);
    });

    test('one click, one order, and an answer that says that nobody knows', async () => {
      const sku = 'shipped';
      const { answer } = await clickAndKill(await openFront(sku, false), sku);

      expect(answer.body).toMatchObject({ code: 'NODE_UNAVAILABLE', definite: false });
      expect(await shop.ordersOf(sku)).toHaveLength(1);
    });
  });

  describe('a copy that sends again', () => {
    test('without a key: one click, two orders', async () => {
      const sku = 'again';
      const front = await openFront(sku, true);
      const { answer, order } = await clickAndKill(front, sku);

      expect(answer.status).toBe(200);
      expect(answer.body.orderId).not.toBe(order?.id);
      expect(await shop.ordersOf(sku)).toHaveLength(2);
      expect(await shop.stockOf(sku)).toBe(3);
      // One request in its log, and both nodes on the line.
      const ports = front.nodes.map(({ port }) => `127\\.0\\.0\\.1:${port}`).join('|');
      const line = new RegExp(`"POST /inventory/sale\\?sku=${sku} [^\\n]* 200 node=(${ports}), (${ports}) `);
      await until('the click is in the log', () => line.test(readFileSync(front.accessLog, 'utf8')));
    });

    test('with a key: one click, one order, and its answer', async () => {
      const sku = 'keyed';
      const { answer, order } = await clickAndKill(await openFront(sku, true), sku, { 'idempotency-key': newKey() });

      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ orderId: order?.id, node: order?.node });
      expect(answer.headers.get('idempotent-replayed')).toBe('true');
      expect(await shop.ordersOf(sku)).toHaveLength(1);
      expect(await shop.stockOf(sku)).toBe(4);
    });
  });
});
