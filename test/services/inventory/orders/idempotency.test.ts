// What a key means, how long it is known, and what is answered when it is missing, bad, or used for something else.

import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Servers } from '../../../../locks/lock.ts';
import { createOnce, MOST_KEYS } from '../../../../services/inventory/orders/idempotency/in-process.ts';
import { expectProblem, jsonBody, sendRaw, startNode, type TestNode, until } from '../node-under-test.ts';
import { everyWay, newKey, postKeyed, sellKeyed } from './keyed.ts';
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

  test('without a key each request is a purchase of its own', async () => {
    const before = await stock();
    await Promise.all([node.sell('001'), node.sell('001')]);
    expect(await stock()).toBe(before - 2);
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

  test.each(['in-process', 'table'])('%s: 422 also while the first runs', async (way) => {
    const at = way === 'table' ? node : inProcess;
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

  test('not at any node unless its settings say so', async () => {
    expect((await node.sell('001')).status).toBe(200);
  });

  const bad = ['', '""', '"a', '"a", "b"', 'a b', '"a";v=1', '"ü"', 'k'.repeat(256), 'k'.repeat(12_000)];

  test.each(everyWay)('%s: a bad key is refused, and nothing is done or written down', async (way) => {
    const at = await shop.openNode({ IDEMPOTENCY: way });
    onTestFinished(at.part.stop);
    const [before, rows] = [await stock(), await shop.query('SELECT request_key FROM tb_request')];

    for (const key of bad) expectProblem(await sellKeyed(at, '001', key), 'IDEMPOTENCY_KEY_INVALID');

    expect(await stock()).toBe(before);
    expect(await shop.query('SELECT request_key FROM tb_request')).toEqual(rows);
    expect((await at.state()).counts.received).toBe(0);
    expect(at.lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
  });

  test('the header twice is refused', async () => {
    const head = ['POST /inventory/sale HTTP/1.1', 'Host: a', 'Connection: close', 'Content-Length: 0'];
    const answer = await sendRaw(
      node.port,
      [...head, 'Idempotency-Key: "a"', 'Idempotency-Key: "a"', '', ''].join('\r\n'),
    );
    expect(answer).toContain('"code":"IDEMPOTENCY_KEY_INVALID"');
  });

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

test('a node that stops answers the requests under way, and their answers are kept', async () => {
  const leaving = await shop.openNode();
  const key = newKey();
  await supply(leaving, 'leaving', 5);
  await leaving.lab('PUT', '/next-sale', { untilResumed: true });
  const first = sellKeyed(leaving, 'leaving', key);
  await until('the sale is inside', async () => (await leaving.state()).inFlight === 1);

  await leaving.part.stop();

  expect((await sellKeyed(node, 'leaving', key)).text).toBe((await first).text);
  expect(leaving.lines.at(-1)).toContain('"stopped"');
});

test('no node has logged a bug or a warning', () => {
  for (const { lines } of [node, inProcess, strict]) {
    expect(lines.filter((each) => !each.includes('"listening"'))).toEqual([]);
  }
});
