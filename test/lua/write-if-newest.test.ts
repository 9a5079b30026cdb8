import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const writeIfNewest = readScript('write-if-newest');
const fence = () => `${key()}:fence`;
/** Larger tokens follow smaller ones, also where a number of 32, 53 or 64 bits ends. */
const pairs = [
  ['2147483647', '2147483648'],
  ['9007199254740992', '9007199254740993'],
  ['9223372036854775807', '9223372036854775808'],
] as const;
const write = (stock: number, lock: string, token: string) =>
  writeIfNewest(connect(), [key(), fence()], [stock, lock, token]);

test('write-if-newest: returns 1, writes, and remembers the token', async () => {
  const redis = connect();
  await redis.set(key(), 100);

  expect(await write(99, 'fenced', '7')).toBe(1);

  expect(await redis.get(key())).toBe('99');
  expect(await redis.hgetall(fence())).toEqual({ fenced: '7' });
  await redis.del(key(), fence());
});

test('write-if-newest: returns 1 for the same token again', async () => {
  const redis = connect();
  await write(99, 'fenced', '7');

  expect(await write(98, 'fenced', '7')).toBe(1);

  expect(await redis.get(key())).toBe('98');
  await redis.del(key(), fence());
});

test('write-if-newest: returns 0 and writes nothing for an older token, also when it has fewer digits', async () => {
  const redis = connect();
  await write(50, 'fenced', '10');

  expect(await write(99, 'fenced', '9')).toBe(0);

  expect(await redis.get(key())).toBe('50');
  expect(await redis.hgetall(fence())).toEqual({ fenced: '10' });
  await redis.del(key(), fence());
});

test.each(pairs)('write-if-newest: returns 0 to token %s when the stock has seen %s', async (older, newer) => {
  const redis = connect();

  expect(await write(50, 'zookeeper', older)).toBe(1);
  expect(await write(49, 'zookeeper', newer)).toBe(1);
  expect(await write(99, 'zookeeper', older)).toBe(0);

  expect(await redis.get(key())).toBe('49');
  expect(await redis.hgetall(fence())).toEqual({ zookeeper: newer });
  await redis.del(key(), fence());
});

test('write-if-newest: does not compare the tokens of two locks', async () => {
  const redis = connect();
  await write(50, 'fenced', '10');

  expect(await write(49, 'zookeeper', '3')).toBe(1);

  expect(await redis.hgetall(fence())).toEqual({ fenced: '10', zookeeper: '3' });
  await redis.del(key(), fence());
});
