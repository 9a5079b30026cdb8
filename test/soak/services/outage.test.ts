// A Redis that leaves under load and comes back: how soon each sale is answered, how soon it sells again, and that no unit lands late.

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import {
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
