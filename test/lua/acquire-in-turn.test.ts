import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireInTurn = readScript('acquire-in-turn');
const [WAIT, TRY] = [1, 0];

test('acquire-in-turn: returns 1 and starts the lease when the lock is free and nobody waits', async () => {
  const redis = connect();

  expect(await acquireInTurn(redis, keys(), ['ours', 5_000, WAIT])).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  expect(await waiters(redis)).toEqual([]);
  await redis.del(keys());
});

test('acquire-in-turn: returns the hold count and starts the lease anew when the lock is ours, even if others wait', async () => {
  const redis = connect();
  await redis.hset(key(), 'ours', 1);
  await redis.pexpire(key(), 1_000);
  await acquireInTurn(redis, keys(), ['theirs', 5_000, WAIT]);

  expect(await acquireInTurn(redis, keys(), ['ours', 5_000, WAIT])).toBe(2);

  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(1_000);
  expect(ttl).toBeLessThanOrEqual(5_000);
  expect(await waiters(redis)).toEqual(['theirs']);
  await redis.del(keys());
});

test('acquire-in-turn: returns minus the rest of the lease when it is held, and queues us once, behind the others', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 1_000);

  for (const owner of ['a', 'b', 'a', 'c', 'b']) {
    const answer = await acquireInTurn(redis, keys(), [owner, 5_000, WAIT]);
    expect(answer).toBeLessThan(0);
    expect(answer).toBeGreaterThanOrEqual(-1_000);
  }

  expect(await waiters(redis)).toEqual(['a', 'b', 'c']);
  expect((await redis.zrange(keys()[2], '0', '-1')).toSorted()).toEqual(['a', 'b', 'c']);
  for (const name of keys().slice(1)) expect(await redis.pttl(name)).toBeGreaterThan(0);
  await redis.del(keys());
});

test('acquire-in-turn: queues nobody who only tries', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 1_000);

  expect(await acquireInTurn(redis, keys(), ['ours', 5_000, TRY])).toBeLessThan(0);

  expect(await redis.exists(keys())).toBe(1);
  await redis.del(keys());
});

test('acquire-in-turn: a free lock is for the first waiter alone, which leaves the queue with it', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 1_000);
  for (const owner of ['a', 'b']) await acquireInTurn(redis, keys(), [owner, 5_000, WAIT]);
  await redis.del(key());

  const answers = [
    await acquireInTurn(redis, keys(), ['b', 5_000, WAIT]),
    await acquireInTurn(redis, keys(), ['ours', 5_000, TRY]),
  ];
  for (const answer of answers) {
    // The first waiter counts as alive for so long.
    expect(answer).toBeGreaterThanOrEqual(-5_000);
    expect(answer).toBeLessThan(-1_000);
  }
  expect(await acquireInTurn(redis, keys(), ['a', 5_000, WAIT])).toBe(1);

  expect(await waiters(redis)).toEqual(['b']);
  expect(await redis.zrange(keys()[2], '0', '-1')).toEqual(['b']);
  await redis.del(keys());
});

test('acquire-in-turn: a first waiter that is dead loses its place', async () => {
  const redis = connect();
  await redis.zadd(keys()[1], 1, 'dead', 2, 'ours');
  await redis.zadd(keys()[2], 1, 'dead', 9_999_999_999_999, 'ours');

  expect(await acquireInTurn(redis, keys(), ['ours', 5_000, WAIT])).toBe(1);

  expect(await redis.exists(keys().slice(1))).toBe(0);
  await redis.del(keys());
});

test('acquire-in-turn: returns -1 when the lock of somebody else has no lease', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);

  expect(await acquireInTurn(redis, keys(), ['ours', 5_000, TRY])).toBe(-1);

  await redis.del(keys());
});

const keys = (): [string, string, string] => [key(), `${key()}:queue`, `${key()}:alive`];
const waiters = (redis: Redis) => redis.zrange(keys()[1], '0', '-1');
