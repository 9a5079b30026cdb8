import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseReentrant = readScript('release-reentrant');

test('release-reentrant: returns the holds still ours and starts the lease anew when it is not the last', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 3);
  await redis.pexpire(key(), 1_000);

  expect(await releaseReentrant(redis, [key()], ['ours', 5_000])).toBe(2);
  expect(await releaseReentrant(redis, [key()], ['ours', 5_000])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test('release-reentrant: returns 0 and deletes the lock when it is the last', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);

  expect(await releaseReentrant(redis, [key()], ['ours', 5_000])).toBe(0);

  expect(await redis.exists(key())).toBe(0);
});

test("release-reentrant: returns -1 and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 1_000);

  expect(await releaseReentrant(redis, [key()], ['ours', 5_000])).toBe(-1);

  expect(await redis.hgetall(key())).toEqual({ theirs: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(1_000);
  await redis.del(key());
});

test('release-reentrant: returns -1 and creates nothing when the lock is gone', async () => {
  const redis = connect();

  expect(await releaseReentrant(redis, [key()], ['ours', 5_000])).toBe(-1);

  expect(await redis.exists(key())).toBe(0);
});
