import { expect, test } from 'vitest';
import { createLock } from '../../locks/2-recursive-retry.ts';
import { aborted, lockOptions } from './lock-options.ts';
import { measureTries } from './measure-tries.ts';
import { ownRedis } from './own-redis.ts';
import { startHolder } from './start-holder.ts';
import { watchClient } from './watched-client.ts';

const { url, connect, key } = ownRedis();

test('2-recursive-retry: the lock is a key that exists while it is held', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key() }));

  await lock.acquire();
  const whileHeld = await redis.get(key());
  await lock.release();

  expect(whileHeld).toBe('held');
  expect(await redis.exists(key())).toBe(0);
});

test('2-recursive-retry: another process waits until this one leaves', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  await redis.config('RESETSTAT');
  let isInside = false;
  const starting = startHolder({ stage: '2-recursive-retry', url: url(), key: key() });
  starting.then(() => (isInside = true));

  // Every try of the other process is a SET, and Redis counts them.
  while (!/cmdstat_set:calls=\d\d/.test(await redis.info('commandstats')));
  expect(isInside).toBe(false);
  await a.release();
  const b = await starting;
  await expect(a.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  b.resume();
  await b.untilSaid('released');
});

test('2-recursive-retry: a failed try waits, then tries again', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));
  await redis.set(key(), 'held');
  const answers = [watch.nextAnswer('set'), watch.nextAnswer('set')];

  const entered = lock.acquire();
  expect(await Promise.all(answers)).toEqual([null, null]);
  await redis.del(key());
  await entered;

  expect(new Set(watch.sent)).toEqual(new Set(['set']));
  await lock.release();
});

test('2-recursive-retry: every failed try stays in memory until the last one ends', async () => {
  const { tries, bytesPerTry, bytesPerTryAfterwards } = await measureTries('2-recursive-retry', url(), key());

  expect(tries).toBeGreaterThan(20_000);
  expect(bytesPerTry).toBeGreaterThan(100);
  expect(bytesPerTryAfterwards).toBeLessThan(20);
});
