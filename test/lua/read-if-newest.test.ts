import { expect, test } from 'vitest';
import { type RunScript, readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const readIfNewest: RunScript<string | null | -1> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');
const fence = () => `${key()}:fence`;
const read = (lock: string, token: string) => readIfNewest(connect(), [key(), fence()], [lock, token]);
const write = (stock: number, lock: string, token: string) =>
  writeIfNewest(connect(), [key(), fence()], [stock, lock, token]);

test('read-if-newest: returns the stock, and remembers the token', async () => {
  const redis = connect();
  await redis.set(key(), 100);

  expect(await read('fenced', '7')).toBe('100');

  expect(await redis.hgetall(fence())).toEqual({ fenced: '7' });
  await redis.del(key(), fence());
});

test('read-if-newest: returns the stock to the same token again', async () => {
  const redis = connect();
  await redis.set(key(), 100);
  await read('fenced', '7');

  expect(await read('fenced', '7')).toBe('100');

  await redis.del(key(), fence());
});

test('read-if-newest: a stock of -1 is no refusal', async () => {
  const redis = connect();
  await redis.set(key(), -1);

  expect(await read('fenced', '7')).toBe('-1');

  await redis.del(key(), fence());
});

test('read-if-newest: returns nil where there is no stock, makes none, and remembers the token all the same', async () => {
  const redis = connect();

  expect(await read('fenced', '7')).toBeNull();

  expect(await redis.exists(key())).toBe(0);
  expect(await redis.hgetall(fence())).toEqual({ fenced: '7' });
  await redis.del(fence());
});

test('read-if-newest: returns -1 to an older token, also when it has fewer digits', async () => {
  const redis = connect();
  await redis.set(key(), 100);
  await read('fenced', '10');

  expect(await read('fenced', '9')).toBe(-1);

  expect(await redis.hgetall(fence())).toEqual({ fenced: '10' });
  await redis.del(key(), fence());
});

test('read-if-newest: a write with an older token is refused from then on, though nothing newer has been written', async () => {
  const redis = connect();
  await redis.set(key(), 100);
  await read('fenced', '1');
  await read('fenced', '2');

  expect(await write(99, 'fenced', '1')).toBe(0);
  expect(await write(99, 'fenced', '2')).toBe(1);

  await redis.del(key(), fence());
});

test('read-if-newest: returns -1 to a token that is older than one that has written', async () => {
  const redis = connect();
  await write(50, 'fenced', '2');

  expect(await read('fenced', '1')).toBe(-1);

  await redis.del(key(), fence());
});

test.each([
  ['2147483647', '2147483648'],
  ['9007199254740992', '9007199254740993'],
  ['9223372036854775807', '9223372036854775808'],
])('read-if-newest: returns -1 to token %s when the stock has seen %s', async (older, newer) => {
  const redis = connect();
  await redis.set(key(), 50);

  expect(await read('zookeeper', older)).toBe('50');
  expect(await read('zookeeper', newer)).toBe('50');
  expect(await read('zookeeper', older)).toBe(-1);

  expect(await redis.hgetall(fence())).toEqual({ zookeeper: newer });
  await redis.del(key(), fence());
});

test('read-if-newest: does not compare the tokens of two locks', async () => {
  const redis = connect();
  await redis.set(key(), 50);
  await read('fenced', '10');

  expect(await read('zookeeper', '3')).toBe('50');

  expect(await redis.hgetall(fence())).toEqual({ fenced: '10', zookeeper: '3' });
  await redis.del(key(), fence());
});
