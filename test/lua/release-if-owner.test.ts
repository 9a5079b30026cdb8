import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseIfOwner = readScript('release-if-owner');

test('release-if-owner: returns 1 and deletes the lock when it is ours', async () => {
  const redis = connect();
  await redis.set(key(), 'ours', 'PX', 5_000);

  expect(await releaseIfOwner(redis, [key()], ['ours'])).toBe(1);

  expect(await redis.exists(key())).toBe(0);
});

test("release-if-owner: returns 0 and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.set(key(), 'theirs', 'PX', 5_000);

  expect(await releaseIfOwner(redis, [key()], ['ours'])).toBe(0);

  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  expect(await redis.getdel(key())).toBe('theirs');
});

test('release-if-owner: returns 0 when the lock is gone', async () => {
  const redis = connect();

  expect(await releaseIfOwner(redis, [key()], ['ours'])).toBe(0);

  expect(await redis.exists(key())).toBe(0);
});
