import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const renewReader = readScript('renew-reader');

test('renew-reader: returns 1 and starts the lease anew, and keeps what is kept for as long', async () => {
  const redis = connect();
  await enter('ours', Date.now() + 1_000);

  expect(await renewReader(redis, keys(), ['ours', 5_000])).toBe(1);

  const left = Number(await redis.zscore(keys()[1], 'ours')) - Date.now();
  expect(left).toBeGreaterThan(1_000);
  expect(left).toBeLessThanOrEqual(5_000);
  expect(await redis.hgetall(keys()[0])).toEqual({ ours: '1' });
  for (const name of keys()) expect(await redis.pttl(name)).toBeGreaterThan(1_000);
  await redis.del(keys());
});

test('renew-reader: does not shorten what is kept for another reader', async () => {
  const redis = connect();
  await enter('theirs', Date.now() + 60_000);
  await enter('ours', Date.now() + 1_000);

  expect(await renewReader(redis, keys(), ['ours', 5_000])).toBe(1);

  for (const name of keys()) expect(await redis.pttl(name)).toBeGreaterThan(5_000);
  await redis.del(keys());
});

test('renew-reader: returns 0 when the lease has ended, and starts none', async () => {
  const redis = connect();
  await enter('ours', Date.now() - 1);

  expect(await renewReader(redis, keys(), ['ours', 5_000])).toBe(0);

  expect(Number(await redis.zscore(keys()[1], 'ours'))).toBeLessThan(Date.now());
  await redis.del(keys());
});

test('renew-reader: returns 0 for one who does not read', async () => {
  const redis = connect();
  await enter('theirs', Date.now() + 60_000);

  expect(await renewReader(redis, keys(), ['ours', 5_000])).toBe(0);

  expect(await redis.zscore(keys()[1], 'ours')).toBeNull();
  await redis.del(keys());
});

const keys = (): [string, string] => [`${key()}:readers`, `${key()}:leases`];

async function enter(reader: string, leaseEnd: number) {
  const redis = connect();
  await redis.hset(keys()[0], reader, 1);
  await redis.zadd(keys()[1], leaseEnd, reader);
}
