import { expect, test } from 'vitest';
import { createLock } from '../../locks/7-reentrant.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';

const { connect, key } = ownRedis();

test('7-reentrant: the lock is a hash of owner token and hold count', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key(), ownerToken: 'a' }));

  await lock.acquire();
  const once = await redis.hgetall(key());
  await lock.acquire(AbortSignal.abort());
  const twice = await redis.hgetall(key());

  expect([once, twice]).toEqual([{ a: '1' }, { a: '2' }]);
  await lock.release();
  await lock.release();
  expect(await redis.exists(key())).toBe(0);
});

test('7-reentrant: the outer hold remains after the inner release', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), ownerToken: 'a' }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  await a.acquire();
  await a.acquire(AbortSignal.abort());

  await a.release();

  expect(await redis.hgetall(key())).toEqual({ a: '1' });
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
  await b.acquire(AbortSignal.abort());
  await b.release();
});

test('7-reentrant: a nested acquire and an inner release start the lease anew', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key(), leaseMs: 20_000 }));

  await lock.acquire();
  await redis.pexpire(key(), 5_000);
  await lock.acquire(AbortSignal.abort());
  const afterNested = await redis.pttl(key());
  await redis.pexpire(key(), 5_000);
  await lock.release();
  const afterInner = await redis.pttl(key());

  for (const ttl of [afterNested, afterInner]) {
    expect(ttl).toBeGreaterThan(5_000);
    expect(ttl).toBeLessThanOrEqual(20_000);
  }
  await lock.release();
});

test('7-reentrant: one release more than acquires is refused', async () => {
  const lock = createLock(lockOptions({ redis: connect(), key: key() }));
  await lock.acquire();
  await lock.acquire();
  await lock.release();
  await lock.release();

  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test('7-reentrant: a sale longer than the lease loses the lock half way', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), ownerToken: 'a', leaseMs: 100 }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  await a.acquire();

  // A is still inside: it releases only after B has entered.
  await b.acquire();

  expect(await redis.hgetall(key())).toEqual({ b: '1' });
  await expect(a.release()).rejects.toMatchObject(notHeld);
  expect(await redis.hgetall(key())).toEqual({ b: '1' });
  await b.release();
});
