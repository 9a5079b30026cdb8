import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseToFirst = readScript('release-to-first');

test('release-to-first: returns 1, hands the lock to the first in the queue for its own lease, and tells it', async () => {
  const redis = connect();
  const heard = await hearAs('p2');
  await redis.set(key(), 'p1:30000:hears:a:1', 'PX', 1_000);
  await redis.rpush(queue(), 'p2:5000:hears:b:1', 'p2:30000:hears:b:2');

  expect(await releaseToFirst(redis, keys(), ['p1:30000:hears:a:1'])).toBe(1);

  expect(await redis.get(key())).toBe('p2:5000:hears:b:1');
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  expect(await redis.lrange(queue(), 0, -1)).toEqual(['p2:30000:hears:b:2']);
  expect(await heard()).toEqual(['p2:5000:hears:b:1']);
  await redis.del(keys());
});

test('release-to-first: passes over those whose process does not hear of it', async () => {
  const redis = connect();
  const heard = await hearAs('p3');
  await redis.set(key(), 'p1:30000:hears:a:1');
  await redis.rpush(queue(), 'p2:30000:hears:b:1', 'p2:30000:hears:b:2', 'p3:30000:hears:c:1', 'p3:30000:hears:c:2');

  expect(await releaseToFirst(redis, keys(), ['p1:30000:hears:a:1'])).toBe(1);

  expect(await redis.get(key())).toBe('p3:30000:hears:c:1');
  expect(await redis.lrange(queue(), 0, -1)).toEqual(['p3:30000:hears:c:2']);
  expect(await heard()).toEqual(['p3:30000:hears:c:1']);
  await redis.del(keys());
});

test('release-to-first: who is new is not passed over, and is told in case it hears by now', async () => {
  const redis = connect();
  const heard = await hearAs('p3');
  await redis.rpush(queue(), 'p2:5000:new:b:1', 'p3:30000:new:c:1');

  for (const [holder, next] of [
    ['p1:30000:hears:a:1', 'p2:5000:new:b:1'],
    ['p2:5000:new:b:1', 'p3:30000:new:c:1'],
  ] as const) {
    await redis.set(key(), holder);
    expect(await releaseToFirst(redis, keys(), [holder])).toBe(1);
    expect(await redis.get(key())).toBe(next);
  }

  expect(await heard()).toEqual(['p3:30000:new:c:1']);
  await redis.del(keys());
});

test.for([
  { who: 'nobody waits', waiting: [] },
  { who: 'nobody hears of it', waiting: ['p2:30000:hears:b:1', 'p3:30000:hears:c:1'] },
])('release-to-first: returns 1 and frees the lock when $who', async ({ waiting }) => {
  const redis = connect();
  await redis.set(key(), 'p1:30000:hears:a:1');
  if (waiting.length > 0) await redis.rpush(queue(), ...waiting);

  expect(await releaseToFirst(redis, keys(), ['p1:30000:hears:a:1'])).toBe(1);

  expect(await redis.exists(keys())).toBe(0);
});

test("release-to-first: returns 0 and gives up our place, and it alone, when the lock is somebody else's", async () => {
  const redis = connect();
  const heard = await hearAs('p2');
  await redis.set(key(), 'p1:30000:hears:a:1', 'PX', 1_000);
  await redis.rpush(queue(), 'p2:30000:hears:b:1', 'p2:30000:hears:b:2');

  expect(await releaseToFirst(redis, keys(), ['p2:30000:hears:b:1'])).toBe(0);
  expect(await releaseToFirst(redis, keys(), ['p2:30000:hears:b:1'])).toBe(0);

  expect(await redis.get(key())).toBe('p1:30000:hears:a:1');
  expect(await redis.pttl(key())).toBeLessThanOrEqual(1_000);
  expect(await redis.lrange(queue(), 0, -1)).toEqual(['p2:30000:hears:b:2']);
  expect(await heard()).toEqual([]);
  await redis.del(keys());
});

test('release-to-first: returns 0 and creates nothing when the lock is gone', async () => {
  const redis = connect();

  expect(await releaseToFirst(redis, keys(), ['p1:30000:hears:a:1'])).toBe(0);

  expect(await redis.exists(keys())).toBe(0);
});

/** Listens as this process would. What it returns resolves with what was heard so far. */
async function hearAs(process: string) {
  const subscriber: Redis = connect();
  const heard: string[] = [];
  await subscriber.subscribe(`${key()}:${process}`);
  subscriber.on('message', (_channel, message) => heard.push(message));
  return async () => {
    // Whatever was published before it has been heard.
    await subscriber.ping();
    return heard;
  };
}

const queue = () => `${key()}:queue`;
const keys = (): [string, string] => [key(), queue()];
