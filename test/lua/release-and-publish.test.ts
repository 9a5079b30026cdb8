import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseAndPublish = readScript('release-and-publish');

test('release-and-publish: returns the holds still ours and starts the lease anew when it is not the last', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 3);
  await redis.pexpire(key(), 1_000);

  expect(await releaseAndPublish(redis, [key()], ['ours', 5_000, key()])).toBe(2);
  expect(await releaseAndPublish(redis, [key()], ['ours', 5_000, key()])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test('release-and-publish: returns 0, deletes the lock and tells the waiters when it is the last', async () => {
  const redis = connect();
  const subscriber = connect();
  await subscriber.subscribe(key());
  const message = once(subscriber, 'message');
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);

  expect(await releaseAndPublish(redis, [key()], ['ours', 5_000, key()])).toBe(0);

  expect(await message).toEqual([key(), 'released']);
  expect(await redis.exists(key())).toBe(0);
});

test("release-and-publish: returns -1 and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 1_000);

  expect(await releaseAndPublish(redis, [key()], ['ours', 5_000, key()])).toBe(-1);

  expect(await redis.hgetall(key())).toEqual({ theirs: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(1_000);
  await redis.del(key());
});

test('release-and-publish: returns -1 and creates nothing when the lock is gone', async () => {
  const redis = connect();

  expect(await releaseAndPublish(redis, [key()], ['ours', 5_000, key()])).toBe(-1);

  expect(await redis.exists(key())).toBe(0);
});
