import { beforeAll, describe, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { ask, expectProblem, jsonBody, startHeldSale, startNode, type TestNode } from '../node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
});

const setLock = (change: object) => node.lab('PUT', '/lock-version', change);
const setStock = (sku: string, stock: number) => redis.client.set(`{inventory${sku}}:stock`, stock);
const stockOf = (sku: string) => redis.client.get(`{inventory${sku}}:stock`);
const sell = (query: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  ask(`${node.url}/inventory/sale?${query}`, { method: 'POST', ...init, headers: { ...headers, ...init.headers } });

describe('a sale that names its wait', () => {
  test.each(['3-spin', '8-auto-renew', 'blocking', 'fenced'])(
    '%s: with 0 it tries once, else it gives up in time',
    async (version) => {
      await setLock({ version });
      await setStock('wait', 10);
      const { answer, resume } = await startHeldSale(node, 'wait');

      expectProblem(await sell('sku=wait&waitMs=0'), 'LOCK_WAIT_TIMEOUT', { detail: /not free at once/ });
      expectProblem(await sell('sku=wait&waitMs=60'), 'LOCK_WAIT_TIMEOUT', { detail: /not free within 60 ms/ });
      await resume();
      await answer;

      expect((await sell('sku=wait&waitMs=0')).body).toMatchObject({ outcome: 'sold', remaining: 8 });
      expect((await sell('', {}, jsonBody({ sku: 'wait', waitMs: 60 }))).body).toMatchObject({ remaining: 7 });
      expect(await redis.client.keys('{inventorywait}:lock:*')).not.toContain(`{inventorywait}:lock:${version}`);
    },
  );

  test.each([
    ['waitMs=-1', '8', /waitMs: must be a whole number from 0 to 600000/],
    ['waitMs=1.5', '8', /waitMs/],
    ['waitMs=', '8', /waitMs/],
    ['waitMs=1&waitMs=2', '8', /waitMs/],
    ['waitMs=10001', '8', /at most WAIT_TIMEOUT_MS, which is 10000/],
    ['waitMs=0', 'redis-atomic', /redis-atomic does not support a single try/],
    ['leaseMs=29', 'blocking', /leaseMs: must be a whole number from 30/],
    ['leaseMs=500', '8', /8-auto-renew does not support a fixed lease/],
  ])('%s under %s is refused, and sells nothing', async (query, version, detail) => {
    await setLock({ version });
    await setStock('001', 5);

    expectProblem(await sell(query), 'BAD_REQUEST', { detail });
    expect(await stockOf('001')).toBe('5');
  });
});

test('a sale that is given a lease has that one, and no other', async () => {
  await setLock({ version: 'blocking', leaseMs: 30_000 });
  await setStock('given', 10);
  await node.lab('PUT', '/next-sale', { untilResumed: true });
  const sale = sell('sku=given&leaseMs=600000');
  await expect.poll(async () => (await node.state()).held).toBe(1);

  expect(await redis.client.pttl('{inventorygiven}:lock:blocking')).toBeGreaterThan(30_000);
  await node.lab('PUT', '/resume');
  expect((await sale).body).toMatchObject({ outcome: 'sold' });
});

describe('a lock that is for a user', () => {
  const alice = { 'X-User-Id': 'alice' };

  test('keeps the same user out, lets another one in, and loses the unit that both buy', async () => {
    await setLock({ version: 'fenced', scope: 'user' });
    await setStock('shared', 10);
    await setStock('other', 10);
    // Her next fencing token is larger than the first one of another user.
    await sell('sku=shared', alice);
    await node.lab('PUT', '/next-sale', { untilResumed: true });
    const first = sell('sku=shared', alice);
    await expect.poll(async () => (await node.state()).held).toBe(1);

    expectProblem(await sell('sku=other&waitMs=0', alice), 'LOCK_WAIT_TIMEOUT');
    const second = await sell('sku=shared&waitMs=0', { 'X-User-Id': 'bob@shop.example' });
    await node.lab('PUT', '/resume');

    expect([second.body.remaining, (await first).body.remaining, await stockOf('shared')]).toEqual([8, 8, '8']);
    expect(await redis.client.keys('{user:*}:lock:fenced')).toEqual([]);
  });

  test('needs a user, and only then', async () => {
    await setLock({ version: 8, scope: 'user' });
    await setStock('001', 5);

    expectProblem(await sell(''), 'BAD_REQUEST', { detail: /Send the header X-User-Id, because LOCK_SCOPE is user/ });
    expectProblem(await sell('', { 'X-User-Id': 'a}:lock:{b' }), 'BAD_REQUEST', {
      detail: /X-User-Id must be 1 to 32/,
    });
    expect((await node.get('/inventory')).body).toEqual({ sku: '001', remaining: 5 });
    await setLock({ version: 8 });
    expect((await sell('', { 'X-User-Id': '' })).body).toMatchObject({ remaining: 4 });
  });

  test('takes a basket of one user under one lock', async () => {
    await setLock({ version: 'multi', scope: 'user' });
    await setStock('one', 3);
    await setStock('two', 3);

    const answer = await sell('', { ...alice }, { ...jsonBody({ skus: ['one', 'two'] }) });

    expect(answer.body).toMatchObject({ outcome: 'sold', skus: [{ remaining: 2 }, { remaining: 2 }] });
  });
});

describe('PUT /lock-version', () => {
  test.each([
    [{ version: 8, fixedLeaseMs: 500 }, /8-auto-renew does not support a fixed lease/],
    [{ version: 8, leaseMs: 900, renewEveryMs: 900 }, /renewEveryMs must be less than leaseMs, which is 900/],
    [{ version: 'buckets', scope: 'user' }, /buckets sells without a lock around the sale/],
  ])('%j is refused', async (change, detail) => {
    const { lock } = await node.state();

    expectProblem(await setLock(change), 'BAD_REQUEST', { detail });
    expect((await node.state()).lock).toBe(lock);
  });

  test('the time between renewals and a fixed lease belong to the lease that they were started with', async () => {
    const env = { LOCK_VERSION: 'blocking', LEASE_MS: '3000', RENEW_EVERY_MS: '200', FIXED_LEASE_MS: '700' };
    const own = await startNode(redis.url, env);
    const put = async (change: object) => (await own.lab('PUT', '/lock-version', change)).body;

    expect(await own.state()).toMatchObject({ leaseMs: 3_000, renewEveryMs: 200, fixedLeaseMs: 700, scope: 'sku' });
    expect(await put({ version: 8 })).not.toHaveProperty('fixedLeaseMs');
    expect(await put({ version: 'blocking' })).toMatchObject({ renewEveryMs: 200, fixedLeaseMs: 700 });
    const other = await put({ version: 'blocking', leaseMs: 600 });
    expect(other).toMatchObject({ leaseMs: 600, renewEveryMs: 200 });
    expect(other).not.toHaveProperty('fixedLeaseMs');
  });
});
