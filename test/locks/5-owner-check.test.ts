import { expect, test } from 'vitest';
import { createLock } from '../../locks/5-owner-check.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { watchClient } from './watched-client.ts';

const { connect, key } = ownRedis();

test('5-owner-check: the value is the owner token, and the key still expires', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key(), ownerToken: 'instance:0001', leaseMs: 5_000 }));

  await lock.acquire();

  expect(await redis.get(key())).toBe('instance:0001');
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await lock.release();
});

test("5-owner-check: a holder slower than its lease leaves the next holder's key alone", async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), ownerToken: 'a' }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  const c = createLock(lockOptions({ redis, key: key(), ownerToken: 'c' }));

  await a.acquire();
  await redis.del(key()); // The lease of A ends.
  await b.acquire(AbortSignal.abort());

  await expect(a.release()).rejects.toMatchObject(notHeld);
  expect(await redis.get(key())).toBe('b');
  await expect(c.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await b.release();
});

test('5-owner-check: a lease that ends between the look and the delete is learnt from the release', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));
  await lock.acquire();
  const deletion = watch.hold('del');

  const released = lock.release();
  await deletion.reached;
  await redis.del(key());
  deletion.letGo();

  await expect(released).rejects.toMatchObject(notHeld);
});

test('5-owner-check: the owner changes between the look and the delete, and a third enters', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = createLock(lockOptions({ redis: watch.client, key: key(), ownerToken: 'a' }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  const c = createLock(lockOptions({ redis, key: key(), ownerToken: 'c' }));
  await a.acquire();
  const look = watch.nextAnswer('get');
  const deletion = watch.hold('del');

  const releasedByA = a.release();
  expect(await look).toBe('a');
  await deletion.reached;
  await redis.del(key()); // The lease of A ends.
  await b.acquire(AbortSignal.abort());
  deletion.letGo();
  await releasedByA;

  expect(await redis.exists(key())).toBe(0);
  await c.acquire(AbortSignal.abort());
  await expect(b.release()).rejects.toMatchObject(notHeld);
  await c.release();
});
