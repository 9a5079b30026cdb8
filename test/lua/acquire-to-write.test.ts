import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireToWrite = readScript('acquire-to-write');
const [WAIT, TRY] = [1_000, 0];
/** A lease that never ends, and one that has ended, in milliseconds since 1970. */
const [NEVER, ENDED] = [9_999_999_999_999, 1];

test('acquire-to-write: returns 1 and starts the lease when the lock is free, and takes the mark of a writer away', async () => {
  const redis = connect();
  await redis.set(mark(), 'ours');

  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  expect(await redis.exists(mark())).toBe(0);
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(keys());
});

test('acquire-to-write: returns the hold count and starts the lease anew when it is ours, also while we read', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);
  await enter('ours', NEVER);

  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(2);

  expect(await redis.pttl(key())).toBeGreaterThan(1_000);
  await redis.del(keys());
});

test('acquire-to-write: returns 0 and leaves no mark when another writes', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 2);
  await redis.pexpire(key(), 1_000);

  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(0);

  expect(await redis.hgetall(key())).toEqual({ theirs: '2' });
  expect(await redis.pttl(key())).toBeLessThanOrEqual(1_000);
  expect(await redis.exists(mark())).toBe(0);
  await redis.del(keys());
});

test('acquire-to-write: returns 0 while others read, and marks that we wait', async () => {
  const redis = connect();
  await enter('reader', NEVER);

  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(0);

  expect(await redis.exists(key())).toBe(0);
  expect(await redis.get(mark())).toBe('ours');
  const ttl = await redis.pttl(mark());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(WAIT);
  await redis.del(keys());
});

test('acquire-to-write: returns 0 while others read, and marks nothing for one who only tries', async () => {
  const redis = connect();
  await enter('reader', NEVER);

  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, TRY])).toBe(0);

  expect(await redis.exists(mark())).toBe(0);
  await redis.del(keys());
});

test('acquire-to-write: a reader whose lease has ended keeps nobody out, and one whose lease has not does', async () => {
  const redis = connect();
  await enter('dead', ENDED);
  await enter('alive', NEVER);

  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(0);
  expect(await redis.hkeys(keys()[1])).toEqual(['alive']);
  await redis.zadd(keys()[2], ENDED, 'alive');
  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(1);

  expect(await redis.exists(keys().slice(1))).toBe(0);
  await redis.del(keys());
});

test('acquire-to-write: returns -1 when we read ourselves, also while others are inside, and marks nothing', async () => {
  const redis = connect();
  await enter('ours', NEVER);
  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(-1);
  await enter('reader', NEVER);
  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(-1);
  await redis.hset(key(), 'theirs', 1);
  expect(await acquireToWrite(redis, keys(), ['ours', 5_000, WAIT])).toBe(-1);

  expect(await redis.exists(mark())).toBe(0);
  await redis.del(keys());
});

const keys = (): [string, string, string, string] => [key(), `${key()}:readers`, `${key()}:leases`, `${key()}:waiting`];
const mark = () => keys()[3];

async function enter(reader: string, leaseEnd: number) {
  const redis = connect();
  await redis.hset(keys()[1], reader, 1);
  await redis.zadd(keys()[2], leaseEnd, reader);
}
