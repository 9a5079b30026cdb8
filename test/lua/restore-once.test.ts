import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const restoreOnce = readScript('restore-once');
const keysOf = (stock: string) => [stock, `${stock}:fence`, `${stock}:mark`];

test('restore-once: returns 1 and adds the units, then 0 and adds none', async () => {
  const redis = connect();
  const keys = keysOf(key());
  await redis.set(key(), 5);

  expect(await restoreOnce(redis, keys, [2, 60_000])).toBe(1);
  expect(await restoreOnce(redis, keys, [2, 60_000])).toBe(0);

  expect(await redis.get(key())).toBe('7');
  expect(await redis.pttl(`${key()}:mark`)).toBeGreaterThan(50_000);
  expect(await redis.exists(`${key()}:fence`)).toBe(0);
  await redis.del(...keys);
});

test('restore-once: a stock that is not there is made', async () => {
  const redis = connect();
  const keys = keysOf(key());

  expect(await restoreOnce(redis, keys, [3, 60_000])).toBe(1);

  expect(await redis.get(key())).toBe('3');
  await redis.del(...keys);
});

test('restore-once: returns -1 to a token that is not the newest, and changes nothing', async () => {
  const redis = connect();
  const keys = keysOf(key());
  await redis.set(key(), 5);
  await redis.hset(`${key()}:fence`, 'fenced', 8);

  expect(await restoreOnce(redis, keys, [1, 60_000, 'fenced', '7'])).toBe(-1);
  expect([await redis.get(key()), await redis.exists(`${key()}:mark`)]).toEqual(['5', 0]);

  expect(await restoreOnce(redis, keys, [1, 60_000, 'fenced', '9'])).toBe(1);
  expect(await redis.hget(`${key()}:fence`, 'fenced')).toBe('9');
  // What is done is done, also for an older token.
  expect(await restoreOnce(redis, keys, [1, 60_000, 'fenced', '7'])).toBe(0);
  await redis.del(...keys);
});

test.each([
  ['2147483647', '2147483648'],
  ['9007199254740992', '9007199254740993'],
  ['9223372036854775807', '9223372036854775808'],
])('restore-once: returns -1 to token %s when the stock has seen %s', async (older, newer) => {
  const redis = connect();
  const keys = keysOf(key());
  await redis.hset(`${key()}:fence`, 'zookeeper', newer);

  expect(await restoreOnce(redis, keys, [1, 60_000, 'zookeeper', older])).toBe(-1);
  expect(await restoreOnce(redis, keys, [1, 60_000, 'zookeeper', newer])).toBe(1);

  expect(await redis.hget(`${key()}:fence`, 'zookeeper')).toBe(newer);
  await redis.del(...keys);
});

test('restore-once: a stock that is no number is an error, and the order is not marked', async () => {
  const redis = connect();
  const keys = keysOf(key());
  await redis.set(key(), 'many');

  await expect(restoreOnce(redis, keys, [1, 60_000])).rejects.toThrow(/not an integer/);

  expect(await redis.exists(`${key()}:mark`)).toBe(0);
  await redis.del(...keys);
});
