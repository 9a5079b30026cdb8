import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  expectProblem,
  startHeldSale,
  startLink,
  startNode,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

let redis: TestRedis;
let patient: TestNode;

beforeAll(async () => {
  redis = await startRedis();
  patient = await startNode(redis.url);
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
  expect(nextEntered - left).toBeLessThan(500);
  expect((await patient.state()).counts).toMatchObject({ received: 202, sold: 2, clientGone: 200 });
});

describe.each([
  { version: '3-spin', grant: 'SET' },
  { version: '8-auto-renew', grant: 'acquire-reentrant' },
])('waiting under $version', ({ version, grant }) => {
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
