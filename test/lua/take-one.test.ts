import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const takeOne = readScript('take-one');

test('take-one: returns the stock before it, and takes one', async () => {
  const redis = connect();
  await redis.set(key(), 3);

  expect(await takeOne(redis, [key()], [])).toBe(3);

  expect(await redis.get(key())).toBe('2');
  await redis.del(key());
});

test('take-one: returns 0 and takes nothing when sold out', async () => {
  const redis = connect();
  await redis.set(key(), 0);

  expect(await takeOne(redis, [key()], [])).toBe(0);

  expect(await redis.get(key())).toBe('0');
  await redis.del(key());
});

test('take-one: returns -1 and makes nothing when there is no stock', async () => {
  const redis = connect();

  expect(await takeOne(redis, [key()], [])).toBe(-1);

  expect(await redis.exists(key())).toBe(0);
});
