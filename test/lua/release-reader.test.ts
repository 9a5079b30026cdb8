import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseReader = readScript('release-reader');
const NEVER = 9_999_999_999_999;

test('release-reader: returns the holds still ours, and 0 with the last one', async () => {
  const redis = connect();
  await enter('theirs', 1, NEVER);
  await enter('ours', 2, NEVER);

  expect(await releaseReader(redis, keys(), ['ours'])).toBe(1);
  expect(await redis.hgetall(keys()[0])).toEqual({ ours: '1', theirs: '1' });
  expect(await releaseReader(redis, keys(), ['ours'])).toBe(0);

  expect(await redis.hgetall(keys()[0])).toEqual({ theirs: '1' });
  expect(await redis.zrange(keys()[1], '0', '-1')).toEqual(['theirs']);
  await redis.del(keys());
});

test('release-reader: the last reader leaves no key behind', async () => {
  const redis = connect();
  await enter('ours', 1, NEVER);

  expect(await releaseReader(redis, keys(), ['ours'])).toBe(0);

  expect(await redis.exists(keys())).toBe(0);
});

test('release-reader: returns -1 when our lease has ended, and takes us out', async () => {
  const redis = connect();
  await enter('ours', 2, 1);

  expect(await releaseReader(redis, keys(), ['ours'])).toBe(-1);

  expect(await redis.exists(keys())).toBe(0);
});

test('release-reader: returns -1 for one who does not read, and touches nobody else', async () => {
  const redis = connect();
  await enter('theirs', 1, NEVER);

  expect(await releaseReader(redis, keys(), ['ours'])).toBe(-1);

  expect(await redis.hgetall(keys()[0])).toEqual({ theirs: '1' });
  expect(await redis.zrange(keys()[1], '0', '-1')).toEqual(['theirs']);
  await redis.del(keys());
});

const keys = (): [string, string] => [`${key()}:readers`, `${key()}:leases`];

async function enter(reader: string, holdCount: number, leaseEnd: number) {
  const redis = connect();
  await redis.hset(keys()[0], reader, holdCount);
  await redis.zadd(keys()[1], leaseEnd, reader);
}
