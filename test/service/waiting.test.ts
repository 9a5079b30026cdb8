import { Agent, type ClientRequest, request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import {
  expectProblem,
  startNode,
  startPausedSale,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from './node-under-test.ts';

let redis: TestRedis;
let patient: TestNode;
let impatient: TestNode;

beforeAll(async () => {
  redis = await startRedis();
  [patient, impatient] = await Promise.all([startNode(redis.url), startNode(redis.url, { WAIT_TIMEOUT_MS: '300' })]);
});

/** Starts sales that each have a connection of their own, and resolves when all of them wait for the lock. */
async function startWaiting(node: TestNode, sku: string, count: number): Promise<ClientRequest[]> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const requests = Array.from({ length: count }, () => {
    const sale = request(`${node.url}/inventory/sale?sku=${sku}`, { method: 'POST', agent });
    return sale.on('error', () => {}).end();
  });
  await until(`${count} sales wait`, async () => (await node.state()).waiting === count);
  return requests;
}

/** Takes the lock of the sku as somebody else would; resolves with the way to give it up. */
async function holdFromOutside(lockName: string, sku: string) {
  const key = `{inventory${sku}}:lock:${lockName}`;
  if (lockName === '8-auto-renew') await redis.client.hset(key, 'somebody else', 1);
  else await redis.client.set(key, 'somebody else');
  return () => redis.client.del(key);
}

test.each(['2-recursive-retry', '3-spin', '5-owner-check', '8-auto-renew'])(
  'waiting under %s: 200 clients hang up, their sales stop at once, and the next one gets in',
  async (version) => {
    await patient.lab('PUT', '/lock-version', { version });
    await patient.lab('DELETE', '/history');
    await redis.client.set('{inventorycrowd}:stock', 1000);
    const leave = await holdFromOutside(version, 'crowd');
    const waiters = await startWaiting(patient, 'crowd', 200);

    for (const waiter of waiters) waiter.destroy();
    await until('nobody waits', async () => (await patient.state()).waiting === 0, 1000);
    const next = patient.sell('crowd');
    await until('the next sale waits', async () => (await patient.state()).waiting === 1);
    const leftAt = performance.now();
    await leave();
    const { body } = await next;

    expect(body).toMatchObject({ outcome: 'sold', stockBefore: 1000 });
    expect(performance.now() - leftAt).toBeLessThan(500);
    expect((await patient.state()).counts).toMatchObject({ received: 201, sold: 1, clientGone: 200 });
    expect(await redis.client.keys('{inventorycrowd}:lock:*')).toEqual([]);
    // No warning that listeners leak, and no bug.
    expect(patient.lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
  },
);

test('waiting under 1-in-process: 200 clients hang up, their sales stop at once, and the next one gets in', async () => {
  await patient.lab('PUT', '/lock-version', { version: 1 });
  await patient.lab('DELETE', '/history');
  await redis.client.set('{inventorycrowd}:stock', 1000);
  const holder = await startPausedSale(patient, 'crowd', 1500);
  const waiters = await startWaiting(patient, 'crowd', 200);

  for (const waiter of waiters) waiter.destroy();
  await until('nobody waits', async () => (await patient.state()).waiting === 0, 1000);
  const next = await patient.sell('crowd');

  expect((await holder.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 1000 });
  expect(next.body).toMatchObject({ outcome: 'sold', stockBefore: 999 });
  const events = await patient.events();
  const left = events.find(({ type }) => type === 'left')?.at ?? Number.NaN;
  const nextEntered = events.findLast(({ type }) => type === 'entered')?.at ?? Number.NaN;
  expect(nextEntered - left).toBeLessThan(500);
  expect((await patient.state()).counts).toMatchObject({ received: 202, sold: 2, clientGone: 200 });
});

test('waiting: a client that hangs up inside does not stop its sale', async () => {
  await patient.lab('DELETE', '/history');
  await redis.client.set('{inventoryinside}:stock', 10);
  await patient.lab('PUT', '/next-sale', { pauseMs: 200 });
  const sale = request(`${patient.url}/inventory/sale?sku=inside`, { method: 'POST' }).on('error', () => {});
  sale.end();
  await until('the sale has read', async () => (await patient.events()).some(({ type }) => type === 'read'));

  sale.destroy();
  await until('the sale has ended', async () => (await patient.state()).inFlight === 0);

  expect((await patient.state()).counts).toMatchObject({ received: 1, sold: 1, clientGone: 0 });
  expect(await redis.client.get('{inventoryinside}:stock')).toBe('9');
});

test.each([1, 2, 3, 8])('waiting under stage %i: ends after WAIT_TIMEOUT_MS', async (version) => {
  await impatient.lab('PUT', '/lock-version', { version });
  await impatient.lab('DELETE', '/history');
  await redis.client.set('{inventoryslow}:stock', 10);
  const holder = await startPausedSale(impatient, 'slow', 700);

  const startedAt = performance.now();
  const answer = await impatient.sell('slow');
  const waitedMs = performance.now() - startedAt;

  expectProblem(answer, 'LOCK_WAIT_TIMEOUT', { detail: /300 ms/ });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(waitedMs).toBeGreaterThanOrEqual(299);
  expect(waitedMs).toBeLessThan(690);
  expect((await holder.answer).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  expect((await impatient.state()).counts).toMatchObject({ received: 2, sold: 1, lockTimeout: 1 });
  expect(await redis.client.get('{inventoryslow}:stock')).toBe('9');
});
