import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireOrQueue = readScript('acquire-or-queue');
const queue = () => `${key()}:queue`;
const acquire = (owner: string, channel: string, leaseMs = 5_000) =>
  acquireOrQueue(connect(), [key(), queue()], [owner, leaseMs, channel]);

test('acquire-or-queue: returns 0 and starts the lease when the lock is free, and leaves the queue', async () => {
  const redis = connect();
  await redis.rpush(queue(), 'our node', 'their node');

  expect(await acquire('ours', 'our node')).toBe(0);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  expect(await redis.lrange(queue(), 0, -1)).toEqual(['their node']);
  expectLease(await redis.pttl(key()), 4_000, 5_000);
  await redis.del(key(), queue());
});

test.each(['ours', 'our node'])('acquire-or-queue: returns 0 when the lock is that of %s', async (holder) => {
  const redis = connect();
  await redis.hset(key(), holder, 1);
  await redis.pexpire(key(), 1_000);

  expect(await acquire('ours', 'our node')).toBe(0);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  expectLease(await redis.pttl(key()), 4_000, 5_000);
  await redis.del(key());
});

test("acquire-or-queue: returns the lease left when the lock is somebody else's, and queues our node once", async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 3_000);

  for (const node of ['our node', 'another node', 'our node']) expectLease(await acquire('ours', node), 2_000, 3_000);

  expect(await redis.hgetall(key())).toEqual({ theirs: '1' });
  expect(await redis.lrange(queue(), 0, -1)).toEqual(['our node', 'another node']);
  expectLease(await redis.pttl(queue()), 7_000, 8_000);
  await redis.del(key(), queue());
});

test('acquire-or-queue: does not queue when it is given no channel', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);
  await redis.pexpire(key(), 3_000);

  expectLease(await acquire('ours', ''), 2_000, 3_000);

  expect(await redis.exists(queue())).toBe(0);
  await redis.del(key());
});

test('acquire-or-queue: returns 1, never 0, when the lease ends within this millisecond or has no end', async () => {
  const redis = connect();
  await redis.hset(key(), 'theirs', 1);

  expect(await acquire('ours', '')).toBe(1);

  await redis.del(key());
});

function expectLease(leftMs: number, least: number, most: number) {
  expect(leftMs).toBeGreaterThan(least);
  expect(leftMs).toBeLessThanOrEqual(most);
}
