import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const renewIfEqual = readScript('renew-if-equal');

test('renew-if-equal: returns 1 and starts the lease anew when the lock is ours', async () => {
  const redis = connect();
  await redis.set(key(), 'ours', 'PX', 1_000);

  expect(await renewIfEqual(redis, [key()], ['ours', 5_000])).toBe(1);

  expect(await redis.get(key())).toBe('ours');
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test("renew-if-equal: returns 0 and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.set(key(), 'theirs', 'PX', 1_000);

  expect(await renewIfEqual(redis, [key()], ['ours', 5_000])).toBe(0);

  expect(await redis.get(key())).toBe('theirs');
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(1_000);
  await redis.del(key());
});

test('renew-if-equal: returns 0 and creates nothing when the lock is gone', async () => {
  const redis = connect();

  expect(await renewIfEqual(redis, [key()], ['ours', 5_000])).toBe(0);

  expect(await redis.exists(key())).toBe(0);
});
