import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { type SharedRedis, sharedRedis } from '../../own-stack.ts';
import {
  expectProblem,
  refuseWrites,
  startHeldSale,
  startLink,
  startNode,
  type TestNode,
  until,
} from './node-under-test.ts';

let redis: SharedRedis;

beforeAll(async () => {
  redis = await sharedRedis();
});

const isStopping = (node: TestNode) => node.lines.some((line) => line.includes('"stopping"'));

test('shutdown: SIGTERM lets the sale in flight finish, and refuses new ones', async () => {
  const node = await startNode(redis.url, { WAIT_TIMEOUT_MS: '600000' });
  await redis.client.set('{inventoryfinish}:stock', 10);
  // The sale in flight waits for a lock that somebody else has.
  await redis.client.hset('{inventoryfinish}:lock:8-auto-renew', 'somebody else', 1);
  const answer = node.sell('finish');
  await until('the sale waits', async () => (await node.state()).waiting === 1);
  // A request that is on its way when the signal comes: half of it is sent.
  const socket = connect(node.port, '127.0.0.1');
  const late = text(socket);
  socket.write('POST /inventory/sale?sku=finish HTTP/1.1\r\n');
  await node.get('/healthz');

  node.signal('SIGTERM');
  await until('the node is stopping', () => isStopping(node));
  socket.write('Host: x\r\n\r\n');

  await expect(node.sell('finish')).rejects.toThrow('fetch failed');
  expect(await late).toMatch(
    /^HTTP\/1.1 503 [\s\S]*\r\nConnection: close\r\n[\s\S]*"code":"SHUTTING_DOWN","definite":true/,
  );
  await redis.client.del('{inventoryfinish}:lock:8-auto-renew');
  const finished = await answer;
  expect(finished.body).toMatchObject({ outcome: 'sold', remaining: 9 });
  expect(finished.headers.get('connection')).toBe('close');
  expect(await node.part.ended).toMatch(/ended with exit code 0/);
  expect(await redis.client.get('{inventoryfinish}:stock')).toBe('9');
  expect(await redis.client.keys('{inventoryfinish}:lock:*')).toEqual([]);
});

test('shutdown: a node that drains is not ready, and still sells; a second signal ends it at once', async () => {
  const node = await startNode(redis.url, { DRAIN_MS: '60000' });
  await redis.client.set('{inventorydrain}:stock', 10);
  node.signal('SIGTERM');
  await until('the node is stopping', () => isStopping(node));

  expectProblem(await node.get('/readyz'), 'SHUTTING_DOWN');
  expect((await node.sell('drain')).body).toMatchObject({ outcome: 'sold', remaining: 9 });

  node.signal('SIGINT');
  expect(await node.part.ended).toMatch(/ended with exit code 1/);
});

test('shutdown: it ends while Redis is away, and says that the sale is in doubt', async () => {
  const link = await startLink(redis.url);
  const node = await startNode(link.url);
  await redis.client.set('{inventoryaway}:stock', 10);
  const { answer } = await startHeldSale(node, 'away');

  link.cut('silent');
  // A stopping node resumes its sales.
  node.signal('SIGTERM');
  const ended = await node.part.ended;

  expect(ended).toMatch(/ended with exit code 0/);
  expect((await answer).body).toMatchObject({ code: 'STORE_UNAVAILABLE', definite: false });
});

test('shutdown: a lock that Redis has not taken back is given back when Redis is there again', async () => {
  const link = await startLink(redis.url);
  const node = await startNode(link.url, { LOCK_VERSION: '3' });
  await redis.client.set('{inventoryback}:stock', 10);
  const { answer, resume } = await startHeldSale(node, 'back');
  link.cut();
  await until('the node knows', async () => (await node.get('/readyz')).status === 503);
  await resume();
  expectProblem(await answer, 'STORE_UNAVAILABLE');
  expect(await redis.client.keys('{inventoryback}:lock:*')).toHaveLength(1);

  node.signal('SIGTERM');
  await until('the node is stopping', () => isStopping(node));
  // From here on the link counts who comes: a node that stops, and still looks for Redis.
  const { connections } = link.counters;
  link.cut('silent');
  await until('the node looks for Redis', () => link.counters.connections > connections);
  link.restore();

  expect(await node.part.ended).toMatch(/ended with exit code 0/);
  expect(await redis.client.keys('{inventoryback}:lock:*')).toEqual([]);
  expect(await redis.client.get('{inventoryback}:stock')).toBe('10');
});

test('shutdown: locks that Redis refuses to release are released when it takes writes; a node that stops says how many it leaves', async () => {
  const node = await startNode(redis.url, { LOCK_VERSION: '3', IDEMPOTENCY: 'lock' });
  const told = () =>
    node.lines.map((line) => JSON.parse(line)).filter(({ msg }) => /lock/.test(msg) && msg !== 'listening');
  await redis.client.set('{inventoryrefused}:stock', 10);
  const first = await startHeldSale(node, 'refused', '"a-key"');
  const allow = await refuseWrites(redis.client);
  await first.resume();
  expectProblem(await first.answer, 'STORE_UNAVAILABLE', { detail: /NOREPLICAS/ });
  // That of the sale, and that of its key.
  expect((await node.state()).unreleased).toBe(2);
  await allow();
  await until('both are released', async () => (await node.state()).unreleased === 0);
  const second = await startHeldSale(node, 'refused', '"a-key"');
  await refuseWrites(redis.client);

  node.signal('SIGTERM');

  expect(await node.part.ended).toMatch(/ended with exit code 0/);
  expectProblem(await second.answer, 'STORE_UNAVAILABLE', { detail: /NOREPLICAS/ });
  expect(await redis.client.keys('{inventoryrefused}:lock:*')).toHaveLength(1);
  const refuses = { msg: expect.stringMatching(/^Redis refuses to release a lock, retrying: .*NOREPLICAS/) };
  expect(told()).toMatchObject([
    refuses,
    { msg: 'Redis releases locks again' },
    refuses,
    { msg: 'locks were not released: the node stops', unreleased: 2 },
  ]);
  expect(await redis.client.get('{inventoryrefused}:stock')).toBe('10');
});
