import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseToFirst = readScript('release-to-first');

test('release-to-first: returns the holds still ours and starts the lease anew when it is not the last', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 3);
  await redis.pexpire(key(), 1_000);

  expect(await releaseToFirst(redis, keys(), ['ours', 5_000, key()])).toBe(2);
  expect(await releaseToFirst(redis, keys(), ['ours', 5_000, key()])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test('release-to-first: returns 0, deletes the lock and tells the first waiter when it is the last', async () => {
  const redis = connect();
  const subscriber = connect();
  await subscriber.subscribe(key());
  const message = once(subscriber, 'message');
  await redis.zadd(keys()[1], 7, 'second', 5, 'first');
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);

  expect(await releaseToFirst(redis, keys(), ['ours', 5_000, key()])).toBe(0);

  expect(await message).toEqual([key(), 'first']);
  expect(await redis.exists(key())).toBe(0);
  expect(await redis.zrange(keys()[1], '0', '-1')).toEqual(['first', 'second']);
  await redis.del(keys());
});

test('release-to-first: returns 0 and deletes the lock when nobody waits', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);

  expect(await releaseToFirst(redis, keys(), ['ours', 5_000, key()])).toBe(0);

  expect(await redis.exists(keys())).toBe(0);
});

test("release-to-first: returns -1 and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 1_000);

  expect(await releaseToFirst(redis, keys(), ['ours', 5_000, key()])).toBe(-1);

  expect(await redis.hgetall(key())).toEqual({ theirs: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(1_000);
  await redis.del(key());
});

test('release-to-first: returns -1 and creates nothing when the lock is gone', async () => {
  const redis = connect();

  expect(await releaseToFirst(redis, keys(), ['ours', 5_000, key()])).toBe(-1);

  expect(await redis.exists(key())).toBe(0);
});

const keys = (): [string, string] => [key(), `${key()}:queue`];
