// A Redis that leaves under load and comes back: how soon each sale is answered, how soon it sells again, and that no unit lands late.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeTempDir, startPart } from '../../../scripts/stack/parts.ts';
import { findOnPath } from '../../../scripts/stack/path.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { cleanUpLater } from '../../clean-up.ts';
import {
  expectProblem,
  sendRaw,
  startNode,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';
import { accountOf, startBuyers } from './buyers.ts';

/** Longer than the time a node waits for an answer of Redis, so that it has given up and connects again and again. */
const AWAY_MS = 1_000;
const STOCK = 100_000;

describe('under the load of two nodes', () => {
  let redis: TestRedis;
  let nodes: TestNode[];
  beforeAll(async () => {
    redis = await startRedis();
    nodes = await Promise.all([startNode(redis.url), startNode(redis.url)]);
  });

  test.each([
    ['5-owner-check', 'is killed and a new one starts'],
    ['8-auto-renew', 'is killed and a new one starts'],
    ['8-auto-renew', 'freezes and runs again'],
  ])('%s, Redis %s: every sale is answered within a second, and sales work again', async (lock, way) => {
    const isKilled = way.startsWith('is killed');
    for (const node of nodes) await node.lab('PUT', '/lock-version', { version: lock });
    await redis.client.set('{inventoryrush}:stock', STOCK);
    const urls = nodes.map(({ url }) => `${url}/inventory/sale?sku=rush`);
    const { purchases, hasSoldSince, stop } = startBuyers(urls, 30);
    await until('they sell', () => hasSoldSince(0) && purchases.length > 100);

    if (isKilled) await redis.kill();
    else redis.freeze();
    await sleep(AWAY_MS);
    await redis.comeBack();
    const backAt = performance.now();
    if (isKilled) await redis.client.set('{inventoryrush}:stock', STOCK);
    await until('they sell again', () => hasSoldSince(backAt));
    const againMs = performance.now() - backAt;
    await sleep(AWAY_MS);
    await stop();

    const { refusals, slowestMs } = accountOf(purchases);
    expect(slowestMs).toBeLessThan(1_500);
    expect(againMs).toBeLessThan(1_500);
    // The new server has no stock at first.
    expect(refusals.filter((refusal) => refusal !== '404 NOT_FOUND')).toEqual(['503 STORE_UNAVAILABLE']);
    await until('no lock is left', async () => (await redis.client.keys('{inventoryrush}:lock:*')).length === 0);
    // Nothing lands late: every unit is accounted for.
    const counted = accountOf(isKilled ? purchases.filter(({ endedAt }) => endedAt > backAt) : purchases);
    expect(counted.isEachOnce).toBe(true);
    expect(counted.explains(STOCK - Number(await redis.client.get('{inventoryrush}:stock')))).toBe(true);
  });
});

test('Redis is killed and reads its data for more than a second: sales flow as soon as it has, whatever it guessed', async () => {
  const slow = await startSlowRedis();
  const node = await startNode(slow.url);
  await slow.fill('{inventoryloaded}:stock');
  expect((await node.sell('loaded')).status).toBe(200);
  await slow.kill();
  expectProblem(await node.sell('loaded'), 'STORE_UNAVAILABLE');

  const { purchases, hasSoldSince, stop } = startBuyers([`${node.url}/inventory/sale?sku=loaded`], 1);
  const startedAt = performance.now();
  await slow.start();
  const loadedAt = performance.now();
  await until('it sells again', () => hasSoldSince(0));
  const againMs = performance.now() - loadedAt;
  await stop();

  // It loaded for so long that a guess was asked for, and nobody could buy meanwhile.
  expect(loadedAt - startedAt).toBeGreaterThan(1_000);
  expect(purchases.filter(({ status, endedAt }) => status === 503 && endedAt < loadedAt).length).toBeGreaterThan(10);
  expect(againMs).toBeLessThan(1_000);
});

/** A Redis that keeps its data, and reads it again after a restart so slowly that it answers LOADING for a while. */
async function startSlowRedis() {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  const port = await freePort();
  const kept = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'no', '--auto-aof-rewrite-percentage', '0'];
  const startIt = () =>
    startPart({
      name: 'redis',
      command: findOnPath('redis-server', 'valkey-server') ?? '',
      args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', temp.dir, ...kept, '--key-load-delay', '100'],
      isReady: async () => (await sendRaw(port, 'PING\r\n', '\r\n')).startsWith('+PONG'),
    });
  let part = await startIt();
  cleanUpLater(() => part.stop());
  return {
    url: `redis://127.0.0.1:${port}`,
    /** The stock, thousands of small keys and a big one. Redis guesses by bytes, and so at first far too long. */
    async fill(key: string) {
      const client = new Redis(port, '127.0.0.1');
      const small = client.pipeline().set(key, 10_000);
      // It looks after its clients once in 1024 keys, and takes 0.1 ms or more for each of them.
      for (let n = 0; n < 12 * 1_024; n += 1) small.set(`small:${n}`, n);
      await small.exec();
      await client.set('big', Buffer.alloc(16_000_000));
      client.disconnect();
    },
    async kill() {
      part.signal('SIGKILL');
      await part.ended;
    },
    async start() {
      part = await startIt();
    },
  };
}
