// The sale of several skus, on real nodes and a real Redis.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { ask, expectProblem, jsonBody, startLink, startNode, type TestNode, until } from './node-under-test.ts';

const MULTI = { LOCK_VERSION: 'multi' };

let redis: SharedRedis;
let node: TestNode;
let other: TestNode;
let lastTest = 0;
/** Skus of this test alone. */
let skus: [string, string, string];

const stockKey = (sku: string) => `{inventory${sku}}:stock`;
const lockKey = (sku: string) => `{inventory${sku}}:lock:multi`;
const stocks = () => redis.client.mget(skus.map(stockKey));
const locksTaken = () => redis.client.exists(...skus.map(lockKey));
const sellAll = ({ url }: TestNode, body: unknown, headers = {}) => {
  const json = jsonBody(body);
  return ask(`${url}/inventory/sale`, { method: 'POST', ...json, headers: { ...json.headers, ...headers } });
};

beforeAll(async () => {
  redis = await sharedRedis();
  [node, other] = await Promise.all([startNode(redis.url, MULTI), startNode(redis.url, MULTI)]);
});

beforeEach(async () => {
  lastTest += 1;
  skus = [`${lastTest}-a`, `${lastTest}-b`, `${lastTest}-c`];
  for (const sku of skus) await redis.client.set(stockKey(sku), 10);
  await node.lab('DELETE', '/history');
});

describe('a basket is sold', () => {
  test('one unit of each, in the order of the request, and no lock is left', async () => {
    const [a, b, c] = skus;
    await redis.client.set(stockKey(b), 5);

    const { status, body } = await sellAll(node, { skus: [c, a, b] });

    expect(status).toBe(200);
    expect(body).toEqual({
      outcome: 'sold',
      skus: [
        { sku: c, stockBefore: 10, remaining: 9 },
        { sku: a, stockBefore: 10, remaining: 9 },
        { sku: b, stockBefore: 5, remaining: 4 },
      ],
      saleId: expect.any(String),
      node: node.name,
      lock: 'multi',
      holder: expect.stringMatching(/^[0-9a-f-]{36}:\d{4}$/),
    });
    expect([await stocks(), await locksTaken()]).toEqual([['9', '4', '9'], 0]);
    expect((await node.events()).map(({ type }) => type)).toEqual(['waiting', 'entered', 'read', 'wrote', 'left']);
    expect((await node.state()).counts).toMatchObject({ received: 1, sold: 1 });
  });

  test('from two nodes and from both sides, with sales of one sku between: none is lost', async () => {
    const [a, b] = skus;
    for (const sku of [a, b]) await redis.client.set(stockKey(sku), 100);

    const answers = await Promise.all(
      Array.from({ length: 3 }, () => [
        sellAll(node, { skus: [a, b] }),
        sellAll(other, { skus: [b, a] }),
        node.sell(a),
        other.sell(b),
      ]).flat(),
    );

    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await redis.client.mget([a, b].map(stockKey))).toEqual(['91', '91']);
  });

  test('once for each Idempotency-Key', async () => {
    const [a, b] = skus;
    const headers = { 'Idempotency-Key': `"basket-${a}"` };
    const keyed = await startNode(redis.url, { ...MULTI, IDEMPOTENCY: 'in-process' });

    const once = await sellAll(keyed, { skus: [a, b] }, headers);
    const again = await sellAll(keyed, { skus: [a, b] }, headers);
    const another = await sellAll(keyed, { skus: [b, a] }, headers);

    expect([once.status, again.text]).toEqual([200, once.text]);
    expectProblem(another, 'IDEMPOTENCY_KEY_REUSED');
    expect(await stocks()).toEqual(['9', '9', '10']);
  });
});

describe('nothing of a basket is sold', () => {
  test('when one sku is sold out', async () => {
    const [a, b, c] = skus;
    await redis.client.set(stockKey(b), 0);

    expectProblem(await sellAll(node, { skus: [a, b, c] }), 'OUT_OF_STOCK', {
      detail: new RegExp(`^Sku ${b} is sold out: nothing is sold\\.$`),
    });

    expect([await stocks(), await locksTaken()]).toEqual([['10', '0', '10'], 0]);
    expect((await node.state()).counts).toMatchObject({ soldOut: 1 });
  });

  test('when there is no such sku', async () => {
    expectProblem(await sellAll(node, { skus: [skus[0], 'unknown'] }), 'NOT_FOUND', { detail: /no sku unknown/ });

    expect([await stocks(), await locksTaken()]).toEqual([['10', '10', '10'], 0]);
  });

  test('when its client hangs up while it waits for the second lock: the first is given back', async () => {
    const [a, b] = skus;
    await redis.client.hset(lockKey(b), 'somebody', 1);
    const gone = new AbortController();
    const sale = fetch(`${node.url}/inventory/sale`, {
      method: 'POST',
      ...jsonBody({ skus: [b, a] }),
      signal: gone.signal,
    });
    sale.catch(() => {});
    await until('it has the first', async () => (await redis.client.exists(lockKey(a))) === 1);

    gone.abort();

    await until('the first is free', async () => (await redis.client.exists(lockKey(a))) === 0);
    expect(await stocks()).toEqual(['10', '10', '10']);
    await until('it has ended', async () => (await node.state()).counts.clientGone === 1);
    await redis.client.del(lockKey(b));
  });

  test('when Redis goes away while it waits for the second lock: the first is given back when Redis is there again', async () => {
    const [a, b] = skus;
    const link = await startLink(redis.url);
    const cutOff = await startNode(link.url, { ...MULTI, RETRY_DELAY_MS: '250' });
    await redis.client.hset(lockKey(b), 'somebody', 1);
    const asksForSecond = link.holdNext(({ args }) => args.includes(lockKey(b)));
    const sale = sellAll(cutOff, { skus: [a, b] });
    await asksForSecond.arrived;
    await asksForSecond.letGo();
    // It has been answered that the second is not free, so none of its commands is on its way.
    await cutOff.get('/readyz');

    link.cut();
    expectProblem(await sale, 'STORE_UNAVAILABLE', { definite: true });
    expect(await redis.client.exists(lockKey(a))).toBe(1);
    link.restore();

    await until('the first is free', async () => (await redis.client.exists(lockKey(a))) === 0);
    await until('all is given back', async () => (await cutOff.state()).unreleased === 0);
    await redis.client.del(lockKey(b));
  });

  test('when it has noticed before its writes that one of its locks is lost', async () => {
    const [a, b] = skus;
    const hasty = await startNode(redis.url, { ...MULTI, LEASE_MS: '1500' });
    await hasty.lab('PUT', '/next-sale', { untilResumed: true });
    const sale = sellAll(hasty, { skus: [a, b] });
    await until('it is inside', async () => (await hasty.events()).some(({ type }) => type === 'read'));

    await redis.client.del(lockKey(b));
    await until('it has noticed', async () => (await hasty.events()).some(({ type }) => type === 'lease-lost'));
    await hasty.lab('PUT', '/resume');

    expectProblem(await sale, 'LOCK_NOT_HELD', { definite: true });
    expect([await stocks(), await locksTaken()]).toEqual([['10', '10', '10'], 0]);
  });
});

describe('a write after the first does not go through', () => {
  /** A basket of a, b and c whose write of b is on its way to Redis, and held there. */
  async function holdSecondWrite() {
    const [a, b, c] = skus;
    const link = await startLink(redis.url);
    const slow = await startNode(link.url, MULTI);
    const write = link.holdNext(({ script, args }) => script === 'write-if-newest' && args.includes(stockKey(b)));
    const sale = sellAll(slow, { skus: [a, b, c] });
    await write.arrived;
    expect(await stocks()).toEqual(['9', '10', '10']);
    return { link, slow, sale, write };
  }

  test('it is refused: what was written is put back, and the answer is definite', async () => {
    const { sale, write } = await holdSecondWrite();
    await redis.client.del(lockKey(skus[1]));
    expect((await other.sell(skus[1])).body).toMatchObject({ outcome: 'sold', remaining: 9 });

    expect(await write.letGo()).toBe(true);

    expectProblem(await sale, 'STALE_TOKEN', { definite: true });
    expect([await stocks(), await locksTaken()]).toEqual([['10', '9', '10'], 0]);
  });

  test('it is refused, and so is the putting back: half of the basket is sold, and the answer is in doubt', async () => {
    const [a, b, c] = skus;
    const { slow, sale, write } = await holdSecondWrite();
    await redis.client.del(lockKey(a), lockKey(b));
    for (const sku of [a, b]) expect((await other.sell(sku)).status).toBe(200);

    expect(await write.letGo()).toBe(true);

    const detail = new RegExp(`^Taken, or nobody knows: ${a}\\. Certainly not taken: ${b}, ${c}\\.$`);
    expectProblem(await sale, 'HALF_SOLD', { definite: false, detail });
    expect(await stocks()).toEqual(['8', '9', '10']);
    expect((await slow.state()).counts).toMatchObject({ inDoubt: 1, failed: 0 });
  });

  test('it is not answered: nothing is put back, the answer is in doubt, and the locks are given up', async () => {
    const [a, b, c] = skus;
    const { link, slow, sale } = await holdSecondWrite();

    link.cut();
    link.restore();

    const detail = new RegExp(`^Taken, or nobody knows: ${a}, ${b}\\. Certainly not taken: ${c}\\.$`);
    expectProblem(await sale, 'HALF_SOLD', { definite: false, detail });
    await until('the locks are free', async () => (await locksTaken()) === 0);
    expect(await stocks()).toEqual(['9', '10', '10']);
    expect((await slow.state()).counts).toMatchObject({ inDoubt: 1, failed: 0 });
  });

  test('the first one is not answered: it is in doubt as a sale of one sku is', async () => {
    const [a, b] = skus;
    const link = await startLink(redis.url);
    const slow = await startNode(link.url, MULTI);
    const write = link.holdNext('write-if-newest');
    const sale = sellAll(slow, { skus: [a, b] });
    await write.arrived;

    link.cut();
    link.restore();

    expectProblem(await sale, 'STORE_UNAVAILABLE', { definite: false });
    await until('the locks are free', async () => (await locksTaken()) === 0);
  });
});

describe('what is not a basket is refused, definite', () => {
  test.each([
    ['one sku', { skus: ['001'] }, /^skus: must be 2 skus or more\.$/],
    ['nine skus', { skus: Array.from({ length: 9 }, (_, at) => `00${at}`) }, /^skus: must be 8 skus or fewer\.$/],
    ['a sku twice', { skus: ['001', '002', '001'] }, /^skus: must not have a sku twice\.$/],
    ['a sku of other signs', { skus: ['001', 'a b'] }, /^skus\.1: must be 1 to 32 letters/],
    ['a text', { skus: '001,002' }, /^skus: must be a list of skus\.$/],
    ['one sku and several', { sku: '001', skus: ['001', '002'] }, /sku/],
  ])('%s', async (_, body, detail) => {
    expectProblem(await sellAll(node, body), 'BAD_REQUEST', { detail });
  });

  test('in a query', async () => {
    expectProblem(await ask(`${node.url}/inventory/sale?skus=001,002`), 'BAD_REQUEST', { detail: /skus/ });
  });

  test.each(['0-none', '8-auto-renew', 'fenced', 'redis-atomic'])('under %s, which names what can', async (lock) => {
    await other.lab('PUT', '/lock-version', { version: lock });

    expectProblem(await sellAll(other, { skus: [skus[0], skus[1]] }), 'BAD_REQUEST', {
      detail: new RegExp(`^${lock} sells one sku at a time\\. Several are sold under: multi\\.$`),
    });

    expect((await other.state()).inFlight).toBe(0);
    await other.lab('PUT', '/lock-version', { version: 'multi' });
  });
});
