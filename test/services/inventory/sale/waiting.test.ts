import { type ClientRequest, request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { startHeldSale, startLink, startNode, type TestNode, until } from '../node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
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
    await node.lab('PUT', '/lock-version', { version });
    await node.lab('DELETE', '/history');
    await redis.client.set('{inventorycrowd}:stock', 1000);
    const holder = await startHeldSale(node, 'crowd');
    const waiters = await startWaiting(node, 'crowd', 3);

    for (const waiter of waiters) waiter.destroy();
    await until('nobody waits', async () => (await node.state()).waiting === 0);
    const next = node.sell('crowd');
    await until('the next sale waits', async () => (await node.state()).waiting === 1);
    await holder.resume();

    expect((await holder.answer).body).toMatchObject({ outcome: 'sold', stockBefore: 1000 });
    expect((await next).body).toMatchObject({ outcome: 'sold', stockBefore: 999 });
    expect((await node.state()).counts).toMatchObject({ received: 5, sold: 2, clientGone: 3 });
    expect(await redis.client.keys('{inventorycrowd}:lock:*')).toEqual([]);
    // No warning that listeners leak, and no bug.
    expect(node.lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
  },
);

test('waiting: a client that hangs up inside does not stop its sale', async () => {
  await node.lab('DELETE', '/history');
  await redis.client.set('{inventoryinside}:stock', 10);
  await node.lab('PUT', '/next-sale', { untilResumed: true });
  const hangUp = new AbortController();
  const sale = fetch(`${node.url}/inventory/sale?sku=inside`, { method: 'POST', signal: hangUp.signal });
  await until('the sale is held', async () => (await node.state()).held === 1);

  hangUp.abort();
  await expect(sale).rejects.toThrow('aborted');
  await node.lab('PUT', '/resume');
  await until('the sale has ended', async () => (await node.state()).inFlight === 0);

  expect((await node.state()).counts).toMatchObject({ received: 1, sold: 1, clientGone: 0 });
  expect(await redis.client.get('{inventoryinside}:stock')).toBe('9');
});

test('waiting: a client that hangs up while Redis grants the lock buys nothing, and the lock is given back', async () => {
  const link = await startLink(redis.url);
  const far = await startNode(link.url, { LOG_LEVEL: 'trace' });
  await redis.client.set('{inventorygranted}:stock', 10);
  const held = link.holdNext('acquire-reentrant');
  const sale = request(`${far.url}/inventory/sale?sku=granted`, { method: 'POST' })
    .on('error', () => {})
    .end();
  await held.arrived;

  sale.destroy();
  await until('the node knows', () => far.lines.some((line) => line.includes('/inventory/sale?sku=granted')));
  expect(await held.letGo()).toBe(true);
  await until('the sale has ended', async () => (await far.state()).inFlight === 0);

  expect((await far.state()).counts).toMatchObject({ received: 1, sold: 0, clientGone: 1 });
  expect((await far.events()).map(({ type }) => type)).toEqual(['waiting', 'entered', 'left', 'failed']);
  expect(await redis.client.get('{inventorygranted}:stock')).toBe('10');
  expect(await redis.client.keys('{inventorygranted}:lock:*')).toEqual([]);
});
