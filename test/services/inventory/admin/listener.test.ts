import { beforeAll, describe, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
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

  test('only this machine, and the public listener, too, unless HOST says otherwise', async () => {
    const open = await startNode(redis.url, { HOST: '0.0.0.0' });
    // Another address of this machine, which stands for those in a network.
    const elsewhere = (port: number) =>
      fetch(`http://127.0.0.2:${port}/healthz`).then(
        ({ status }) => status,
        () => 'no answer',
      );

    const ports = [node.labPort, open.labPort, node.port, open.port];
    expect(await Promise.all(ports.map(elsewhere))).toEqual(['no answer', 'no answer', 'no answer', 200]);
  });
});

test('lab: while a sale is in flight neither its lock can be changed, nor its history forgotten', async () => {
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

test('lab: /stock: PUT sets it, for both nodes, and DELETE removes it and the lock', async () => {
  const { status, body } = await node.lab('PUT', '/stock', { sku: 'put', stock: 42 });
  expect({ status, body }).toEqual({ status: 200, body: { sku: 'put', stock: 42 } });
  expect((await other.get('/inventory?sku=put')).body).toEqual({ sku: 'put', remaining: 42 });
  await redis.client.set('{inventoryput}:lock:8-auto-renew', 'held');

  expect((await node.lab('DELETE', '/stock?sku=put')).status).toBe(204);

  expect(await redis.client.keys('{inventoryput}:*')).toEqual([]);
});

test('lab: DELETE /history forgets the events, the counts and the scripted sale', async () => {
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

test('lab: /redis names the server, and counts the commands of one sale, those inside scripts included, and not its own', async () => {
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

const put = (path: string, body: object = {}) => node.lab('PUT', path, body);
const countOf = async (type: string) => (await node.events()).filter((event) => event.type === type).length;

test('lab: times: so many sales are held inside until they are resumed, and the one after is ordinary', async () => {
  await node.lab('DELETE', '/history');
  await put('/lock-version', { version: '6' });
  // Nobody is held yet, so this resumes nobody.
  await put('/resume');
  for (const sku of ['001', '002', '003']) await put('/stock', { sku, stock: 100 });
  await put('/next-sale', { untilResumed: true, times: 2 });
  const scripted = [node.sell('001'), node.sell('002')];
  await until('both are held', async () => (await node.state()).held === 2);
  expect([await countOf('read'), await countOf('wrote')]).toEqual([2, 0]);
  expect((await node.sell('003')).status).toBe(200);
  expect(await node.state()).toMatchObject({ inFlight: 2, held: 2 });

  expect((await put('/resume')).status).toBe(204);

  expect((await Promise.all(scripted)).map(({ status }) => status)).toEqual([200, 200]);
  expect(await node.state()).toMatchObject({ inFlight: 0, held: 0 });
});

test('lab: a timing is set with the lock, and the next change of the lock takes it back', async () => {
  await put('/lock-version', { version: '4', leaseMs: 5_000 });
  await put('/stock', { stock: 10 });
  const { answer, resume } = await startHeldSale(node, '001');
  const lease = await redis.client.pttl('{inventory001}:lock:4-ttl');
  await resume();
  await answer;

  expect(lease).toBeLessThanOrEqual(5_000);
  expect((await put('/lock-version', { version: '4' })).status).toBe(200);
  expect(await node.state()).toMatchObject({ leaseMs: 600_000 });
});
