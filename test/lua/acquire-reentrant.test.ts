import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireReentrant = readScript('acquire-reentrant');

test('acquire-reentrant: returns 1 and starts the lease when the lock is free', async () => {
  const redis = connect();

  expect(await acquireReentrant(redis, [key()], ['ours', 5_000])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test('acquire-reentrant: returns the hold count and starts the lease anew when the lock is ours', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);

  expect(await acquireReentrant(redis, [key()], ['ours', 5_000])).toBe(2);
  expect(await acquireReentrant(redis, [key()], ['ours', 5_000])).toBe(3);

  expect(await redis.hgetall(key())).toEqual({ ours: '3' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test("acquire-reentrant: returns 0 and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 2);
  await redis.pexpire(key(), 1_000);

  expect(await acquireReentrant(redis, [key()], ['ours', 5_000])).toBe(0);

  expect(await redis.hgetall(key())).toEqual({ theirs: '2' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(1_000);
  await redis.del(key());
});
