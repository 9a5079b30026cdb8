import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const releaseToNextNode = readScript('release-to-next-node');
const queue = () => `${key()}:queue`;
const handOver = (otherwise: 'keep' | 'free') =>
  releaseToNextNode(connect(), [key(), queue()], ['ours', 5_000, otherwise]);

async function hold(owner: string) {
  const redis = connect();
  await redis.hset(key(), owner, 1);
  await redis.pexpire(key(), 1_000);
  return redis;
}

test.each(['keep', 'free'] as const)(
  'release-to-next-node: returns 0 when the first node that hears of it has the lock (%s)',
  async (otherwise) => {
    const redis = await hold('ours');
    const listener = connect();
    await listener.subscribe(`${key()} second`, `${key()} third`);
    await redis.rpush(queue(), `${key()} first`, `${key()} second`, `${key()} third`);
    const message = once(listener, 'message');

    expect(await handOver(otherwise)).toBe(0);

    expect(await message).toEqual([`${key()} second`, key()]);
    expect(await redis.hgetall(key())).toEqual({ [`${key()} second`]: '1' });
    expect(await redis.pttl(key())).toBeGreaterThan(4_000);
    expect(await redis.lrange(queue(), 0, -1)).toEqual([`${key()} third`]);
    await redis.del(key(), queue());
  },
);

test('release-to-next-node: returns 0 and frees the lock when no node hears of it', async () => {
  const redis = await hold('ours');
  await redis.rpush(queue(), `${key()} gone`);

  expect(await handOver('free')).toBe(0);

  expect(await redis.exists(key(), queue())).toBe(0);
});

test('release-to-next-node: returns 1 and starts the lease anew when no node hears of it and we keep it', async () => {
  const redis = await hold('ours');
  await redis.rpush(queue(), `${key()} gone`);

  expect(await handOver('keep')).toBe(1);

  expect(await redis.hgetall(key())).toEqual({ ours: '1' });
  expect(await redis.pttl(key())).toBeGreaterThan(4_000);
  expect(await redis.exists(queue())).toBe(0);
  await redis.del(key());
});

test.each(['theirs', 'nobody'])('release-to-next-node: returns -1 and touches nothing when %s holds', async (owner) => {
  const redis = owner === 'theirs' ? await hold(owner) : connect();
  await redis.rpush(queue(), `${key()} first`);

  expect(await handOver('free')).toBe(-1);

  expect(await redis.hgetall(key())).toEqual(owner === 'theirs' ? { theirs: '1' } : {});
  expect(await redis.llen(queue())).toBe(1);
  await redis.del(key(), queue());
});
