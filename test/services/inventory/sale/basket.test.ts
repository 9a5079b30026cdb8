// The sale of several skus, on real nodes and a real Redis.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Link, openLink } from '../../../../stack/proxy/link.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { ask, expectProblem, jsonBody, startNode, type TestNode, until } from '../node-under-test.ts';

const MULTI = { LOCK_VERSION: 'multi' };

let redis: SharedRedis;
let node: TestNode;
let other: TestNode;
/** `slow` reaches Redis by it. */
let link: Link;
let slow: TestNode;
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
  link = await openLink(redis.url);
  cleanUpLater(link.close);
  [node, other, slow] = await Promise.all([
    startNode(redis.url, { ...MULTI, IDEMPOTENCY: 'in-process' }),
    startNode(redis.url, MULTI),
    startNode(link.url, MULTI),
  ]);
});

beforeEach(async () => {
  lastTest += 1;
  skus = [`${lastTest}-a`, `${lastTest}-b`, `${lastTest}-c`];
  for (const sku of skus) await redis.client.set(stockKey(sku), 10);
  for (const each of [node, slow]) await each.lab('DELETE', '/history');
});

test('a basket is sold: one unit of each, in the order of the request, and no lock is left', async () => {
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
    port: node.port,
    lock: 'multi',
    holder: expect.stringMatching(/^[0-9a-f-]{36}:\d{4}$/),
  });
  expect([await stocks(), await locksTaken()]).toEqual([['9', '4', '9'], 0]);
  expect((await node.events()).map(({ type }) => type)).toEqual(['waiting', 'entered', 'read', 'wrote', 'left']);
  expect((await node.state()).counts).toMatchObject({ received: 1, sold: 1 });
});

test('nothing of a basket is sold when one sku is sold out', async () => {
  const [a, b, c] = skus;
  await redis.client.set(stockKey(b), 0);

  expectProblem(await sellAll(node, { skus: [a, b, c] }), 'OUT_OF_STOCK', {
    detail: new RegExp(`^Sku ${b} is sold out: nothing was sold\\.$`),
  });

  expect([await stocks(), await locksTaken()]).toEqual([['10', '0', '10'], 0]);
  expect((await node.state()).counts).toMatchObject({ soldOut: 1 });
});

describe('a write after the first does not go through', () => {
  /** A basket of a, b and c whose write of b is on its way to Redis, and held there. */
  async function holdSecondWrite() {
    const [a, b, c] = skus;
    await slow.lab('PUT', '/lock-version', { version: 'multi' });
    const write = link.holdNext(({ script, args }) => script === 'write-if-newest' && args.includes(stockKey(b)));
    const sale = sellAll(slow, { skus: [a, b, c] });
    await write.arrived;
    expect(await stocks()).toEqual(['9', '10', '10']);
    return { sale, write };
  }

  test('it is refused, and so is the putting back: half of the basket is sold, and the answer is in doubt', async () => {
    const [a, b, c] = skus;
    const { sale, write } = await holdSecondWrite();
    await redis.client.del(lockKey(a), lockKey(b));
    for (const sku of [a, b]) expect((await other.sell(sku)).status).toBe(200);

    expect(await write.letGo()).toBe(true);

    const detail = new RegExp(`^Taken, or in doubt: ${a}\\. Certainly not taken: ${b}, ${c}\\.$`);
    expectProblem(await sale, 'HALF_SOLD', { definite: false, detail });
    expect(await stocks()).toEqual(['8', '9', '10']);
    expect((await slow.state()).counts).toMatchObject({ inDoubt: 1, failed: 0 });
  });

  test('it is not answered: nothing is put back, the answer is in doubt, and the locks are given up', async () => {
    const [a, b, c] = skus;
    const { sale } = await holdSecondWrite();

    link.cut();
    link.restore();

    const detail = new RegExp(`^Taken, or in doubt: ${a}, ${b}\\. Certainly not taken: ${c}\\.$`);
    expectProblem(await sale, 'HALF_SOLD', { definite: false, detail });
    await until('the locks are free', async () => (await locksTaken()) === 0);
    expect(await stocks()).toEqual(['9', '10', '10']);
    expect((await slow.state()).counts).toMatchObject({ inDoubt: 1, failed: 0 });
  });
});

describe('what is not a basket is refused, definite', () => {
  test.each([
    ['one sku', { skus: ['001'] }, /^skus: must be 2 skus or more\.$/],
    ['a sku twice', { skus: ['001', '002', '001'] }, /^skus: must not contain a sku twice\.$/],
  ])('%s', async (_, body, detail) => {
    expectProblem(await sellAll(node, body), 'BAD_REQUEST', { detail });
  });

  test.each(['8-auto-renew', 'redis-atomic'])('under %s, which names what can', async (lock) => {
    await other.lab('PUT', '/lock-version', { version: lock });

    expectProblem(await sellAll(other, { skus: [skus[0], skus[1]] }), 'BAD_REQUEST', {
      detail: new RegExp(`^${lock} sells one sku at a time\\. To sell several, use multi\\.$`),
    });

    await other.lab('PUT', '/lock-version', { version: 'multi' });
  });
});
