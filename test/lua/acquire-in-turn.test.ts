import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireInTurn = readScript('acquire-in-turn');

const ours = 'p1:5000:hears:a:1';
const theirs = 'p2:30000:hears:b:1';

test.for(['join', 'stay', 'try'])(
  'acquire-in-turn: %s returns 0 and starts the lease when the lock is free and nobody waits',
  async (how) => {
    const redis = connect();

    expect(await acquireInTurn(redis, keys(), [ours, 5_000, how])).toBe(0);

    expect(await redis.get(key())).toBe(ours);
    await expectLease(redis, 0, 5_000);
    expect(await redis.exists(queue(), suspect())).toBe(0);
    await redis.del(keys());
  },
);

test('acquire-in-turn: returns 0 when the lock is free and we are the first in the queue', async () => {
  const redis = connect();
  await redis.rpush(queue(), ours, theirs);

  expect(await acquireInTurn(redis, keys(), [ours, 5_000, 'stay'])).toBe(0);

  expect(await redis.get(key())).toBe(ours);
  expect(await waiting(redis)).toEqual([theirs]);
  expect(await redis.exists(suspect())).toBe(0);
  await redis.del(keys());
});

test('acquire-in-turn: returns 0 and starts the lease anew when the lock was handed to us', async () => {
  const redis = connect();
  await redis.set(key(), ours, 'PX', 1_000);
  await redis.rpush(queue(), theirs);

  expect(await acquireInTurn(redis, keys(), [ours, 5_000, 'stay'])).toBe(0);

  await expectLease(redis, 1_000, 5_000);
  expect(await waiting(redis)).toEqual([theirs]);
  await redis.del(keys());
});

test('acquire-in-turn: join puts us behind the others, and only the first learns when the lease of the holder ends', async () => {
  const redis = connect();
  await redis.set(key(), theirs, 'PX', 1_000);

  const first = await acquireInTurn(redis, keys(), ['p1:5000:hears:a:1', 5_000, 'join']);
  const second = await acquireInTurn(redis, keys(), ['p1:5000:hears:a:2', 5_000, 'join']);

  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(1_000);
  expect(second).toBe(5_000);
  expect(await waiting(redis)).toEqual(['p1:5000:hears:a:1', 'p1:5000:hears:a:2']);
  const ttl = await redis.pttl(queue());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(keys());
});

test('acquire-in-turn: stay leaves us where we are, and says when the lease of the holder ends', async () => {
  const redis = connect();
  await redis.set(key(), theirs, 'PX', 1_000);
  await redis.rpush(queue(), 'p3:5000:hears:c:1', ours, 'p3:5000:hears:c:2');

  const answer = await acquireInTurn(redis, keys(), [ours, 5_000, 'stay']);

  expect(answer).toBeGreaterThan(0);
  expect(answer).toBeLessThanOrEqual(1_000);
  expect(await waiting(redis)).toEqual(['p3:5000:hears:c:1', ours, 'p3:5000:hears:c:2']);
  expect(await redis.pttl(queue())).toBeGreaterThan(0);
  await redis.del(keys());
});

test('acquire-in-turn: stay returns -1 and queues nobody when we have lost our place', async () => {
  const redis = connect();
  await redis.set(key(), theirs, 'PX', 1_000);

  expect(await acquireInTurn(redis, keys(), [ours, 5_000, 'stay'])).toBe(-1);

  expect(await redis.get(key())).toBe(theirs);
  expect(await redis.exists(queue())).toBe(0);
  await redis.del(keys());
});

test('acquire-in-turn: try queues nobody', async () => {
  const redis = connect();
  await redis.set(key(), theirs, 'PX', 1_000);

  expect(await acquireInTurn(redis, keys(), [ours, 5_000, 'try'])).toBeGreaterThan(0);

  expect(await redis.exists(queue())).toBe(0);
  await redis.del(keys());
});

test('acquire-in-turn: a lock that somebody let run out is for the first whose process hears of it, and we wait', async () => {
  const redis = connect();
  const heard = await hearAs('p3');
  await redis.rpush(queue(), 'p2:30000:hears:b:1', 'p3:4000:hears:c:1', 'p3:4000:hears:c:2');

  const answer = await acquireInTurn(redis, keys(), [ours, 5_000, 'join']);

  expect(answer).toBe(5_000);
  expect(await redis.get(key())).toBe('p3:4000:hears:c:1');
  await expectLease(redis, 0, 4_000);
  expect(await waiting(redis)).toEqual(['p3:4000:hears:c:2', ours]);
  expect(await heard()).toEqual(['p3:4000:hears:c:1']);
  expect(await redis.get(suspect())).toBe('p3');
  expect(await redis.pttl(suspect())).toBeGreaterThan(4_000);
  await redis.del(keys());
});

test('acquire-in-turn: who lets it run out twice loses the places of its whole process', async () => {
  const redis = connect();
  const heard = await hearAs('p3');
  await redis.rpush(queue(), 'p3:4000:hears:c:1', 'p3:4000:hears:c:2', ours, 'p3:4000:hears:c:3');
  await redis.set(suspect(), 'p3');

  expect(await acquireInTurn(redis, keys(), [ours, 5_000, 'stay'])).toBe(0);

  expect(await redis.get(key())).toBe(ours);
  expect(await waiting(redis)).toEqual(['p3:4000:hears:c:3']);
  expect(await heard()).toEqual([]);
  await redis.del(keys());
});

test('acquire-in-turn: try takes a lock that somebody let run out from nobody who waits', async () => {
  const redis = connect();
  await hearAs('p3');
  await redis.rpush(queue(), 'p3:4000:hears:c:1');

  expect(await acquireInTurn(redis, keys(), [ours, 5_000, 'try'])).toBeGreaterThan(0);

  expect(await redis.get(key())).toBe('p3:4000:hears:c:1');
  expect(await redis.exists(queue())).toBe(0);
  await redis.del(keys());
});

async function expectLease(redis: Redis, moreThan: number, atMost: number) {
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(moreThan);
  expect(ttl).toBeLessThanOrEqual(atMost);
}

/** Listens as this process would. What it returns resolves with what was heard so far. */
async function hearAs(process: string) {
  const subscriber = connect();
  const heard: string[] = [];
  await subscriber.subscribe(`${key()}:${process}`);
  subscriber.on('message', (_channel, message) => heard.push(message));
  return async () => {
    // Whatever was published before it has been heard.
    await subscriber.ping();
    return heard;
  };
}

const waiting = (redis: Redis) => redis.lrange(queue(), 0, -1);
const queue = () => `${key()}:queue`;
const suspect = () => `${key()}:suspect`;
const keys = (): [string, string, string] => [key(), queue(), suspect()];
