import { beforeAll, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { expectProblem, startHeldSale, startLink, startNode, type TestNode } from './node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;
let other: TestNode;
const readWrite = { LOCK_VERSION: 'read-write' };
const stockKey = (sku: string) => `{inventory${sku}}:stock`;
const lockKey = (sku: string) => `{inventory${sku}}:lock:read-write`;
const look = (at: TestNode, sku: string) => at.get(`/inventory?sku=${sku}`);

beforeAll(async () => {
  redis = await sharedRedis();
  [node, other] = await Promise.all([startNode(redis.url, readWrite), startNode(redis.url, readWrite)]);
});

/** A sale that is between its read and its write, until it is resumed. */
async function sellHeld(at: TestNode, sku: string) {
  await redis.client.set(stockKey(sku), 10);
  return startHeldSale(at, sku);
}

const keysOf = (sku: string) => redis.client.keys(`${lockKey(sku)}*`);

test('GET /inventory under read-write: it is answered when the sale has left, and with what it wrote', async () => {
  const sale = await sellHeld(node, 'seen');
  let hasAnswer = false;
  const [here, there] = [node, other].map((at) => look(at, 'seen').finally(() => (hasAnswer = true)));
  // Each of them has asked by then, and Redis has answered.
  for (let round = 0; round < 5; round += 1) for (const at of [node, other]) await at.get('/readyz');
  expect(hasAnswer).toBe(false);

  await sale.resume();

  expect((await sale.answer).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  for (const answer of [here, there]) {
    expect(await answer).toMatchObject({ status: 200, body: { sku: 'seen', remaining: 9 } });
  }
  expect(await keysOf('seen')).toEqual([]);
});

test('GET /inventory under read-write: it waits no longer than a sale, and leaves nothing', async () => {
  await other.lab('PUT', '/lock-version', { version: 'read-write', waitTimeoutMs: 50 });
  const sale = await sellHeld(node, 'kept');

  const answer = await look(other, 'kept');

  expectProblem(answer, 'LOCK_WAIT_TIMEOUT');
  expect(answer.headers.get('retry-after')).toBe('1');
  await sale.resume();
  await sale.answer;
  expect(await keysOf('kept')).toEqual([]);
  await other.lab('PUT', '/lock-version', { version: 'read-write' });
});

test('GET /inventory under read-write: what was read is not answered when the lock was lost meanwhile', async () => {
  const link = await startLink(redis.url);
  const far = await startNode(link.url, readWrite);
  await redis.client.set(stockKey('lost'), 10);
  const read = link.holdNext('GET');
  const answer = look(far, 'lost');
  await read.arrived;
  expect(await redis.client.hlen(`${lockKey('lost')}:readers`)).toBe(1);

  await redis.client.del(`${lockKey('lost')}:readers`, `${lockKey('lost')}:leases`);
  await node.sell('lost');
  await read.letGo();

  expectProblem(await answer, 'LOCK_NOT_HELD');
  expect(await keysOf('lost')).toEqual([]);
});

test('GET /inventory under 8-auto-renew: it takes no lock, and is answered while a sale is inside', async () => {
  const plain = await startNode(redis.url);
  const sale = await sellHeld(plain, 'plain');

  expect(await look(plain, 'plain')).toMatchObject({ status: 200, body: { remaining: 10 } });

  await sale.resume();
  await sale.answer;
});
