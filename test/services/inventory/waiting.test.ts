import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { atLeast, atMost } from '../../machine.ts';
import {
  expectProblem,
  startHeldSale,
  startLink,
  startNode,
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
    expect(performance.now() - leftAt).toBeLessThan(atMost(500));
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
  const holder = await startHeldSale(patient, 'crowd');
  const waiters = await startWaiting(patient, 'crowd', 200);

  for (const waiter of waiters) waiter.destroy();
  await until('nobody waits', async () => (await patient.state()).waiting === 0, 1000);
  const answer = patient.sell('crowd');
  await until('the next sale waits', async () => (await patient.state()).waiting === 1);
  await holder.resume();
  const next = await answer;

  expect((await holder.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 1000 });
  expect(next.body).toMatchObject({ outcome: 'sold', stockBefore: 999 });
  const events = await patient.events();
  const left = events.find(({ type }) => type === 'left')?.at ?? Number.NaN;
  const nextEntered = events.findLast(({ type }) => type === 'entered')?.at ?? Number.NaN;
  expect(nextEntered - left).toBeLessThan(atMost(500));
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
  const holder = await startHeldSale(impatient, 'slow');

  const startedAt = performance.now();
  const answer = await impatient.sell('slow');
  const waitedMs = performance.now() - startedAt;

  expectProblem(answer, 'LOCK_WAIT_TIMEOUT', { detail: /300 ms/ });
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(waitedMs).toBeGreaterThanOrEqual(atLeast(300));
  expect(waitedMs).toBeLessThan(atMost(690));
  expect((await impatient.state()).held).toBe(1);
  await holder.resume();
  expect((await holder.answer).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  expect((await impatient.state()).counts).toMatchObject({ received: 2, sold: 1, lockTimeout: 1 });
  expect(await redis.client.get('{inventoryslow}:stock')).toBe('9');
});

describe.each([
  { version: '3-spin', grant: 'SET' },
  { version: '8-auto-renew', grant: 'acquire-reentrant' },
])('waiting under $version', ({ version, grant }) => {
  test('a client that hangs up while Redis grants the lock buys nothing, and the lock is given back', async () => {
    const link = await startLink(redis.url);
    const node = await startNode(link.url, { LOCK_VERSION: version, LOG_LEVEL: 'debug' });
    await redis.client.set('{inventorygranted}:stock', 10);
    const held = link.holdNext(grant);
    const sale = request(`${node.url}/inventory/sale?sku=granted`, { method: 'POST' })
      .on('error', () => {})
      .end();
    await held.arrived;

    sale.destroy();
    await until('the node knows', () => node.lines.some((line) => line.includes('/inventory/sale?sku=granted')));
    expect(await held.letGo()).toBe(true);
    await until('the sale has ended', async () => (await node.state()).inFlight === 0);

    expect((await node.state()).counts).toMatchObject({ received: 1, sold: 0, clientGone: 1 });
    expect((await node.events()).map(({ type }) => type)).toEqual(['waiting', 'entered', 'left', 'failed']);
    expect(await redis.client.get('{inventorygranted}:stock')).toBe('10');
    expect(await redis.client.keys('{inventorygranted}:lock:*')).toEqual([]);
  });

  test('WAIT_TIMEOUT_MS passes while Redis grants the lock: nothing is bought, and the lock is given back', async () => {
    const waitTimeoutMs = 100;
    const link = await startLink(redis.url);
    const node = await startNode(link.url, { LOCK_VERSION: version, WAIT_TIMEOUT_MS: String(waitTimeoutMs) });
    await redis.client.set('{inventorygranted}:stock', 10);
    const held = link.holdNext(grant);
    const answer = node.sell('granted');
    await held.arrived;

    await sleep(waitTimeoutMs + 10);
    // An answer to a question that came after the wait had ended: by now the node knows that it has.
    await node.state();
    expect(await held.letGo()).toBe(true);

    expectProblem(await answer, 'LOCK_WAIT_TIMEOUT', { detail: /100 ms/ });
    expect((await node.state()).counts).toMatchObject({ received: 1, sold: 0, lockTimeout: 1 });
    expect((await node.events()).map(({ type }) => type)).toEqual(['waiting', 'entered', 'left', 'failed']);
    expect(await redis.client.get('{inventorygranted}:stock')).toBe('10');
    expect(await redis.client.keys('{inventorygranted}:lock:*')).toEqual([]);
  });
});
