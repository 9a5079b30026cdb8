// Many clients at once, and what becomes of them when they hang up or their node is asked to stop.

import { beforeAll, expect, test } from 'vitest';
import { lockWith, writeModule } from '../../loadtest/grade/modules.ts';
import {
  startNode,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

const CROWD = 200;

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});

test('shutdown: under load through kept connections no sale is lost', async () => {
  const [leaving, staying] = await Promise.all([startNode(redis.url), startNode(redis.url)]);
  await redis.client.set('{inventoryload}:stock', 100_000);
  let sold = 0;
  let isOver = false;
  const isStopping = () => leaving.lines.some((line) => line.includes('"stopping"'));
  /** Buys until it is over, or the node is gone; fetch keeps and uses its connections again. */
  async function buyAt(from: TestNode) {
    while (!isOver) {
      const answer = await from.sell('load').catch((error: Error) => error);
      if (answer instanceof Error) {
        if (from === leaving && isStopping() && answer.message === 'fetch failed') return;
        throw answer;
      }
      if (answer.status === 200) sold += 1;
      else expect(answer.body.code).toBe('SHUTTING_DOWN');
    }
  }
  const ofLeaving = Array.from({ length: 20 }, () => buyAt(leaving));
  const ofStaying = Array.from({ length: 10 }, () => buyAt(staying));
  await until('200 are sold', () => sold >= CROWD);
  leaving.signal('SIGTERM');
  expect(await leaving.part.ended).toMatch(/ended with exit code 0/);
  await Promise.all(ofLeaving);
  const soldByThen = sold;
  await until('the other node sells on', () => sold > soldByThen + 20);
  isOver = true;
  await Promise.all(ofStaying);

  expect(100_000 - Number(await redis.client.get('{inventoryload}:stock'))).toBe(sold);
  expect(await redis.client.keys('{inventoryload}:lock:*')).toEqual([]);
});

test('an external lock that never releases: the sale is answered LOCK_FAILED after five seconds, and says why', async () => {
  const file = writeModule('never-releases.ts', lockWith({ release: 'await new Promise(() => {});' }));
  const own = await startNode(redis.url, { LOCK_MODULES: file, LOCK_VERSION: 'never-releases', LOG_LEVEL: 'silent' });
  await own.lab('PUT', '/stock', { sku: '001', stock: 5 });

  expect(await own.sell('001')).toMatchObject({
    status: 500,
    body: { code: 'LOCK_FAILED', detail: 'release() has not ended within 5000 ms.', definite: false },
  });
});
