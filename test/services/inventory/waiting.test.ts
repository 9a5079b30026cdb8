import { type ClientRequest, request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { expectProblem, startHeldSale, startLink, startNode, type TestNode, until } from './node-under-test.ts';

let redis: SharedRedis;
let patient: TestNode;
let impatient: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  [patient, impatient] = await Promise.all([startNode(redis.url), startNode(redis.url, { WAIT_TIMEOUT_MS: '50' })]);
});

/** Starts sales that each have a connection of their own, and resolves when all of them wait for the lock. */
async function startWaiting(node: TestNode, sku: string, count: number): Promise<ClientRequest[]> {
  const requests = Array.from({ length: count }, () => {
    const sale = request(`${node.url}/inventory/sale?sku=${sku}`, { method: 'POST', agent: false });
    return sale.on('error', () => {}).end();
  });
  await until(`${count} sales wait`, async () => (await node.state()).waiting === count);
  return requests;
}

test.each(['1-in-process', '2-recursive-retry', '8-auto-renew'])(
  'waiting under %s: clients hang up, their sales stop, and the next one gets in',
  async (version) => {
    await patient.lab('PUT', '/lock-version', { version });
    await patient.lab('DELETE', '/history');
    await redis.client.set('{inventorycrowd}:stock', 1000);
    const holder = await startHeldSale(patient, 'crowd');
    const waiters = await startWaiting(patient, 'crowd', 3);

    for (const waiter of waiters) waiter.destroy();
    await until('nobody waits', async () => (await patient.state()).waiting === 0);
    const next = patient.sell('crowd');
    await until('the next sale waits', async () => (await patient.state()).waiting === 1);
    await holder.resume();

    expect((await holder.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 1000 });
    expect((await next).body).toMatchObject({ outcome: 'sold', stockBefore: 999 });
    expect((await patient.state()).counts).toMatchObject({ received: 5, sold: 2, clientGone: 3 });
    expect(await redis.client.keys('{inventorycrowd}:lock:*')).toEqual([]);
    // No warning that listeners leak, and no bug.
    expect(patient.lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
  },
);

test('waiting: a client that hangs up inside does not stop its sale', async () => {
  await patient.lab('DELETE', '/history');
  await redis.client.set('{inventoryinside}:stock', 10);
  await patient.lab('PUT', '/next-sale', { untilResumed: true });
  const hangUp = new AbortController();
  const sale = fetch(`${patient.url}/inventory/sale?sku=inside`, { method: 'POST', signal: hangUp.signal });
  await until('the sale is held', async () => (await patient.state()).held === 1);

  hangUp.abort();
  await expect(sale).rejects.toThrow('aborted');
  await patient.lab('PUT', '/resume');
  await until('the sale has ended', async () => (await patient.state()).inFlight === 0);

  expect((await patient.state()).counts).toMatchObject({ received: 1, sold: 1, clientGone: 0 });
  expect(await redis.client.get('{inventoryinside}:stock')).toBe('9');
});

test.each([1, 8])('waiting under stage %i: ends after WAIT_TIMEOUT_MS', async (version) => {
  await impatient.lab('PUT', '/lock-version', { version });
  await impatient.lab('DELETE', '/history');
  await redis.client.set('{inventoryslow}:stock', 10);
  const holder = await startHeldSale(impatient, 'slow');

  const answer = await impatient.sell('slow');

  expectProblem(answer, 'LOCK_WAIT_TIMEOUT', { detail: /50 ms/ });
  expect(answer.headers.get('retry-after')).toBe('1');
  // It was not for the end of the sale before that it was answered.
  expect((await impatient.state()).held).toBe(1);
  await holder.resume();
  expect((await holder.answer).body).toMatchObject({ outcome: 'sold', remaining: 9 });
  expect((await impatient.state()).counts).toMatchObject({ received: 2, sold: 1, lockTimeout: 1 });
  expect(await redis.client.get('{inventoryslow}:stock')).toBe('9');
});

test('waiting: a client that hangs up while Redis grants the lock buys nothing, and the lock is given back', async () => {
  const link = await startLink(redis.url);
  const node = await startNode(link.url, { LOG_LEVEL: 'trace' });
  await redis.client.set('{inventorygranted}:stock', 10);
  const held = link.holdNext('acquire-reentrant');
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
