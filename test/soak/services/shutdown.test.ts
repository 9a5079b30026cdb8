import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import {
  ask,
  startHeldSale,
  startNode,
  startPausedSale,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

let redis: TestRedis;
let survivor: TestNode;

beforeAll(async () => {
  redis = await startRedis();
  survivor = await startNode(redis.url, { LOCK_VERSION: '6' });
});

const isStopping = (node: TestNode) => node.lines.some((line) => line.includes('"stopping"'));

test.each([
  // Longer than any limit of the shutdown itself.
  ['SIGTERM', 2500],
  ['SIGINT', 300],
] as const)('shutdown: %s lets a sale of %i ms finish and refuses new ones', async (signal, pauseMs) => {
  const node = await startNode(redis.url);
  await redis.client.set('{inventoryfinish}:stock', 10);
  const { answer } = await startPausedSale(node, 'finish', pauseMs);
  // A request that is on its way when the signal comes: half of it is sent.
  const socket = connect(node.port, '127.0.0.1');
  const late = text(socket);
  socket.write('POST /inventory/sale?sku=finish HTTP/1.1\r\n');
  await node.get('/healthz');

  node.signal(signal);
  await until('the node is stopping', () => isStopping(node));
  socket.write('Host: x\r\n\r\n');
  const newcomer = ask(`${node.url}/inventory/sale?sku=finish`, { method: 'POST' });

  await expect(newcomer).rejects.toThrow('fetch failed');
  expect(await late).toMatch(
    /^HTTP\/1.1 503 [\s\S]*\r\nConnection: close\r\n[\s\S]*"code":"SHUTTING_DOWN","definite":true/,
  );
  const finished = await answer;
  expect(finished.body).toMatchObject({ outcome: 'sold', remaining: 9 });
  expect(finished.headers.get('connection')).toBe('close');
  expect(await node.part.ended).toMatch(/ended with exit code 0/);
  expect(await redis.client.get('{inventoryfinish}:stock')).toBe('9');
  expect(await redis.client.keys('{inventoryfinish}:lock:*')).toEqual([]);
});

test('shutdown: a second signal ends the node at once', async () => {
  const node = await startNode(redis.url);
  await redis.client.set('{inventorytwice}:stock', 10);
  await startPausedSale(node, 'twice', 60_000);
  node.signal('SIGTERM');
  await until('the node is stopping', () => isStopping(node));

  const signalledAt = performance.now();
  node.signal('SIGTERM');

  expect(await node.part.ended).toMatch(/ended with exit code 1/);
  expect(performance.now() - signalledAt).toBeLessThan(1000);
});

test('shutdown: under load through kept connections no sale is lost', async () => {
  const node = await startNode(redis.url, { LOCK_VERSION: '6' });
  await redis.client.set('{inventoryload}:stock', 100_000);
  let sold = 0;
  const buy = async (from: TestNode) => {
    const { status, body } = await from.sell('load');
    if (status === 200) sold += 1;
    else if (body.code !== 'SHUTTING_DOWN') throw new Error(`An answer nobody expects: ${status} ${body.code}`);
  };
  // Each buyer buys until its node is gone; fetch keeps and uses its connections again.
  const leaving = Array.from({ length: 20 }, async () => {
    while (true) {
      try {
        await buy(node);
      } catch (error) {
        if (isStopping(node) && (error as Error).message === 'fetch failed') return;
        throw error;
      }
    }
  });
  let isOver = false;
  const staying = Array.from({ length: 10 }, async () => {
    while (!isOver) await buy(survivor);
  });
  await until('200 are sold', () => sold >= 200);

  node.signal('SIGTERM');
  const ended = await node.part.ended;
  await Promise.all(leaving);
  const soldByThen = sold;
  await until('the other node sells on', () => sold > soldByThen + 20);
  isOver = true;
  await Promise.all(staying);

  expect(ended).toMatch(/ended with exit code 0/);
  expect(100_000 - Number(await redis.client.get('{inventoryload}:stock'))).toBe(sold);
  expect(await redis.client.keys('{inventoryload}:lock:*')).toEqual([]);
});

test('shutdown: ends in a few seconds while Redis is away, and says that the sale is in doubt', async () => {
  const node = await startNode(redis.url);
  await redis.client.set('{inventoryaway}:stock', 10);
  const { answer } = await startHeldSale(node, 'away');

  redis.freeze();
  const signalledAt = performance.now();
  // A stopping node resumes its sales.
  node.signal('SIGTERM');
  const ended = await node.part.ended;
  const endedAfterMs = performance.now() - signalledAt;
  await redis.comeBack();

  expect(ended).toMatch(/ended with exit code 0/);
  expect(endedAfterMs).toBeLessThan(4000);
  expect((await answer).body).toMatchObject({ code: 'STORE_UNAVAILABLE', definite: false });
});
