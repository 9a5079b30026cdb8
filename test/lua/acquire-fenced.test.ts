import { expect, test } from 'vitest';
import { type RunScript, readScript } from '../../locks/drivers/script.ts';
import { ownRedis } from '../locks/own-redis.ts';

const { connect, key } = ownRedis();
const acquireFenced: RunScript<string | null> = readScript('acquire-fenced');
const tokens = () => `${key()}:tokens`;
const acquire = (owner: string, leaseMs = 5_000) => acquireFenced(connect(), [key(), tokens()], [owner, leaseMs]);

test('acquire-fenced: returns a new token, larger than the last, each time the free lock is taken', async () => {
  const redis = connect();

  expect(await acquire('a')).toBe('1');
  await redis.del(key());
  expect(await acquire('b')).toBe('2');

  expect(await redis.hgetall(key())).toEqual({ b: '1' });
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await redis.del(key(), tokens());
});

test('acquire-fenced: returns the same token again when the lock is ours, and starts the lease anew', async () => {
  const redis = connect();
  await acquire('a', 1_000);

  expect(await acquire('a')).toBe('1');

  expect(await redis.hgetall(key())).toEqual({ a: '2' });
  expect(await redis.pttl(key())).toBeGreaterThan(1_000);
  await redis.del(key(), tokens());
});

test("acquire-fenced: returns nil and makes no token when the lock is somebody else's", async () => {
  const redis = connect();
  await acquire('a');

  expect(await acquire('b')).toBeNull();

  expect(await redis.hgetall(key())).toEqual({ a: '1' });
  expect(await redis.get(tokens())).toBe('1');
  await redis.del(key(), tokens());
});

test.each([
  ['2147483647', '2147483648'],
  ['9007199254740992', '9007199254740993'],
  ['9223372036854775806', '9223372036854775807'],
])('acquire-fenced: after token %s comes %s', async (last, next) => {
  const redis = connect();
  await redis.set(tokens(), last);

  expect(await acquire('a')).toBe(next);
  expect(await acquire('a')).toBe(next);

  await redis.del(key(), tokens());
});
