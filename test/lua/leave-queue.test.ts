import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const leaveQueue = readScript('leave-queue');

test('leave-queue: returns 1 and takes us out of the queue when we were in it', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.zadd(keys()[1], 1, 'ours', 2, 'theirs');
  await redis.zadd(keys()[2], 1, 'ours', 2, 'theirs');

  expect(await leaveQueue(redis, keys(), ['ours', key()])).toBe(1);

  for (const name of keys().slice(1)) expect(await redis.zrange(name, '0', '-1')).toEqual(['theirs']);
  expect(await redis.hgetall(key())).toEqual({ theirs: '1' });
  await redis.del(keys());
});

test('leave-queue: returns 0 and touches nothing when we were not in it', async () => {
  const redis = connect();
  await redis.zadd(keys()[1], 1, 'theirs');
  await redis.zadd(keys()[2], 1, 'theirs');

  expect(await leaveQueue(redis, keys(), ['ours', key()])).toBe(0);

  for (const name of keys().slice(1)) expect(await redis.zrange(name, '0', '-1')).toEqual(['theirs']);
  await redis.del(keys());
});

test('leave-queue: tells the next waiter once when the lock is free, and nobody while it is held', async () => {
  const redis = connect();
  const subscriber = connect();
  const heard: unknown[] = [];
  await subscriber.subscribe(key());
  subscriber.on('message', (_channel, message) => heard.push(message));
  await redis.hset(key(), 'theirs', 1);
  await redis.zadd(keys()[1], 1, 'a', 2, 'b', 3, 'c');

  await leaveQueue(redis, keys(), ['a', key()]);
  await redis.del(key());
  const message = once(subscriber, 'message');
  await leaveQueue(redis, keys(), ['b', key()]);
  await leaveQueue(redis, keys(), ['b', key()]);
  await message;
  // Whatever was published before it has been heard.
  await subscriber.ping();

  expect(heard).toEqual(['c']);
  await redis.del(keys());
});

const keys = (): [string, string, string] => [key(), `${key()}:queue`, `${key()}:alive`];
