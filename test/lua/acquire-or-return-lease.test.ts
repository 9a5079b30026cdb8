import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireOrReturnLease = readScript('acquire-or-return-lease');

test('acquire-or-return-lease: returns 1 and starts the lease when the lock is free', async () => {
  const redis = connect();

  expect(await acquireOrReturnLease(redis, [key()], ['ours', 5_000])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test('acquire-or-return-lease: returns the hold count and starts the lease anew when the lock is ours', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);

  expect(await acquireOrReturnLease(redis, [key()], ['ours', 5_000])).toBe(2);
  expect(await acquireOrReturnLease(redis, [key()], ['ours', 5_000])).toBe(3);

  expect(await redis.hgetall(key())).toEqual({ ours: '3' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key());
});

test("acquire-or-return-lease: returns minus the rest of the lease and touches nothing when the lock is somebody else's", async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 2);
  await redis.pexpire(key(), 1_000);

  const answer = await acquireOrReturnLease(redis, [key()], ['ours', 5_000]);

  expect(answer).toBeLessThan(0);
  expect(answer).toBeGreaterThanOrEqual(-1_000);
  expect(await redis.hgetall(key())).toEqual({ theirs: '2' });
  expect(await redis.pttl(key())).toBeLessThanOrEqual(-answer);
  await redis.del(key());
});

test('acquire-or-return-lease: returns -1 when the lock of somebody else has no lease', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);

  expect(await acquireOrReturnLease(redis, [key()], ['ours', 5_000])).toBe(-1);

  expect(await redis.hgetall(key())).toEqual({ theirs: '1' });
  await redis.del(key());
});
