import { expect, test } from 'vitest';
import { createLock } from '../../locks/6-lua-release.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { watchClient } from './watched-client.ts';

const { connect, key } = ownRedis();

test('6-lua-release: looking and deleting are one command', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));

  await lock.acquire();
  await lock.release();

  expect(watch.sent).toEqual(['set', 'evalsha']);
  expect(await redis.exists(key())).toBe(0);
});

test('6-lua-release: a release that arrives when the owner has changed deletes nothing', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = createLock(lockOptions({ redis: watch.client, key: key(), ownerToken: 'a' }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  const c = createLock(lockOptions({ redis, key: key(), ownerToken: 'c' }));
  await a.acquire();
  const script = watch.hold('evalsha');

  const releasedByA = a.release();
  await script.reached;
  await redis.del(key()); // The lease of A ends.
  await b.acquire(AbortSignal.abort());
  script.letGo();

  await expect(releasedByA).rejects.toMatchObject(notHeld);
  expect(await redis.get(key())).toBe('b');
  await expect(c.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await b.release();
});

test('6-lua-release: a holder that asks for its own lock again waits for itself', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const patience = new AbortController();
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), ownerToken: 'a' }));
  await lock.acquire();

  await expect(lock.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  const tries = [watch.nextAnswer('set'), watch.nextAnswer('set'), watch.nextAnswer('set')];
  const nested = lock.acquire(patience.signal);
  expect(await Promise.all(tries)).toEqual([null, null, null]);
  patience.abort();

  await expect(nested).rejects.toMatchObject(aborted);
  expect(await redis.get(key())).toBe('a');
  await lock.release();
});
