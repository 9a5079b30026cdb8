import { networkInterfaces } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../../stack.ts';
import { expectProblem, sendRaw, startHeldSale, startNode, type TestNode, until } from '../node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  [node, other] = await Promise.all([startNode(redis.url), startNode(redis.url)]);
});

describe('lab: who reaches it', () => {
  test('nobody without LAB_PORT', async () => {
    const dark = await startNode(redis.url, { LAB_PORT: '' });
    await expect(sendRaw(dark.labPort, 'GET /state HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED');
    await until('the log says so', () => dark.lines.some((line) => line.includes('"listening"')));
    expect(dark.lines[0]).not.toContain('labPort');
  });

  test('only this machine', async () => {
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    // A machine without a network has another loopback address at least.
    const address = outside ?? '127.0.0.2';

    await expect(fetch(`http://${address}:${node.labPort}/state`)).rejects.toThrow('fetch failed');
  });
});

describe('lab: while a sale is in flight', () => {
  test('neither its lock can be changed, nor its history forgotten', async () => {
    await node.lab('PUT', '/lock-version', { version: 6 });
    await redis.client.set('{inventoryflight}:stock', 10);
    const { answer, resume } = await startHeldSale(node, 'flight');

    const refused = await node.lab('PUT', '/lock-version', { version: 4 });
    expectProblem(await node.lab('DELETE', '/history'), 'SALES_IN_FLIGHT');
    await resume();

    expectProblem(refused, 'SALES_IN_FLIGHT', { detail: new RegExp(node.name) });
    expect((await answer).body).toMatchObject({ outcome: 'sold', lock: '6-lua-release' });
    expect((await node.events()).length).toBeGreaterThan(0);
    const { body } = await node.lab('PUT', '/lock-version', { version: 8 });
    expect(body.lock).toBe('8-auto-renew');
  });
});

test('lab: a lock whose servers are not named is refused', async () => {
  for (const [version, setting] of [
    ['mysql-named', 'MYSQL_URL'],
    ['mysql-conditional', 'MYSQL_URL'],
    ['zookeeper', 'ZOOKEEPER_URL'],
    ['redlock', 'REDLOCK_URLS'],
  ]) {
    const refused = await node.lab('PUT', '/lock-version', { version });
    expectProblem(refused, 'BAD_REQUEST', { detail: new RegExp(`${version} needs ${setting}`) });
  }
});

describe('lab: /stock', () => {
  test('PUT sets it, for both nodes', async () => {
    const { status, body } = await node.lab('PUT', '/stock', { sku: 'put', stock: 42 });
    expect({ status, body }).toEqual({ status: 200, body: { sku: 'put', stock: 42 } });
    expect((await other.get('/inventory?sku=put')).body).toEqual({ sku: 'put', remaining: 42 });
    await node.lab('PUT', '/stock', { stock: 3 });
    expect(await redis.client.get('{inventory001}:stock')).toBe('3');
  });

  test('DELETE removes the stock and the lock', async () => {
    await node.lab('PUT', '/stock', { sku: 'gone', stock: 1 });
    await redis.client.set('{inventorygone}:lock:8-auto-renew', 'held');

    const { status } = await node.lab('DELETE', '/stock?sku=gone');

    expect(status).toBe(204);
    expect(await redis.client.keys('{inventorygone}:*')).toEqual([]);
  });
});

describe('lab: /history', () => {
  test('DELETE forgets the events, the counts and the scripted sale', async () => {
    await node.lab('PUT', '/stock', { sku: 'forgotten', stock: 10 });
    await node.sell('forgotten');
    await node.lab('PUT', '/next-sale', { untilResumed: true });

    const { status } = await node.lab('DELETE', '/history');

    expect(status).toBe(204);
    expect((await node.lab('GET', '/history')).body).toEqual({ events: [], dropped: 0 });
    expect((await node.state()).counts).toMatchObject({ received: 0, sold: 0 });
    // Nobody has to resume it.
    expect((await node.sell('forgotten')).body).toMatchObject({ outcome: 'sold' });
  });
});

describe('lab: /redis', () => {
  test('names the server, and counts the commands of one sale, those inside scripts included, and not its own', async () => {
    await node.lab('PUT', '/lock-version', { version: 6 });
    await node.lab('PUT', '/stock', { sku: 'commands', stock: 10 });
    await node.sell('commands');
    const { body } = await node.lab('GET', '/redis');
    expect(body).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), server: expect.any(String) });
    const count = async () => Number((await node.lab('GET', '/redis')).body.commandsProcessed);
    const before = await count();
    expect(await count()).toBe(before);

    await node.sell('commands');

    // SET NX, GET, SET, then EVALSHA with the GET and the DEL inside it.
    expect((await count()) - before).toBe(6);
  });
});
