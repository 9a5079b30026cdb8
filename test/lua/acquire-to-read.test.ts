import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireToRead = readScript('acquire-to-read');
const ENDED = 1;

test('acquire-to-read: returns 1 for each of many readers, and starts a lease for each', async () => {
  const redis = connect();

  expect(await acquireToRead(redis, keys(), ['a', 1_000])).toBe(1);
  expect(await acquireToRead(redis, keys(), ['b', 5_000])).toBe(1);

  expect(await redis.hgetall(readers())).toEqual({ a: '1', b: '1' });
  expect(await leaseLeft('a')).toBeGreaterThan(0);
  expect(await leaseLeft('a')).toBeLessThanOrEqual(1_000);
  expect(await leaseLeft('b')).toBeGreaterThan(1_000);
  expect(await leaseLeft('b')).toBeLessThanOrEqual(5_000);
  await redis.del(keys());
});

test('acquire-to-read: what it keeps ends with the longest lease, not with the last one', async () => {
  const redis = connect();
  await acquireToRead(redis, keys(), ['a', 5_000]);

  await acquireToRead(redis, keys(), ['b', 1_000]);

  for (const name of [readers(), leases()]) {
    expect(await redis.pttl(name)).toBeGreaterThan(1_000);
    expect(await redis.pttl(name)).toBeLessThanOrEqual(5_000);
  }
  await redis.del(keys());
});

test('acquire-to-read: returns the hold count and starts the lease anew for one who reads, also while a writer waits', async () => {
  const redis = connect();
  await acquireToRead(redis, keys(), ['ours', 1_000]);
  await redis.set(mark(), 'theirs');

  expect(await acquireToRead(redis, keys(), ['ours', 5_000])).toBe(2);

  expect(await leaseLeft('ours')).toBeGreaterThan(1_000);
  await redis.del(keys());
});

test('acquire-to-read: returns 1 for the writer itself', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);

  expect(await acquireToRead(redis, keys(), ['ours', 5_000])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  await redis.del(keys());
});

test('acquire-to-read: returns 0 while another writes', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);

  expect(await acquireToRead(redis, keys(), ['ours', 5_000])).toBe(0);

  expect(await redis.exists(readers(), leases())).toBe(0);
  await redis.del(keys());
});

test('acquire-to-read: returns 0 while a writer waits, though others read', async () => {
  const redis = connect();
  await acquireToRead(redis, keys(), ['a', 5_000]);
  await redis.set(mark(), 'theirs');

  expect(await acquireToRead(redis, keys(), ['ours', 5_000])).toBe(0);

  expect(await redis.hgetall(readers())).toEqual({ a: '1' });
  await redis.del(keys());
});

test('acquire-to-read: one whose lease has ended reads no more, and waits like any other', async () => {
  const redis = connect();
  await acquireToRead(redis, keys(), ['a', 5_000]);
  await acquireToRead(redis, keys(), ['ours', 5_000]);
  await redis.zadd(leases(), ENDED, 'ours');
  await redis.set(mark(), 'theirs');

  expect(await acquireToRead(redis, keys(), ['ours', 5_000])).toBe(0);

  expect(await redis.hgetall(readers())).toEqual({ a: '1' });
  expect(await redis.zrange(leases(), '0', '-1')).toEqual(['a']);
  await redis.del(keys());
});

const keys = (): [string, string, string, string] => [key(), `${key()}:readers`, `${key()}:leases`, `${key()}:waiting`];
const [readers, leases, mark] = [() => keys()[1], () => keys()[2], () => keys()[3]];
const leaseLeft = async (reader: string) => Number(await connect().zscore(leases(), reader)) - Date.now();
