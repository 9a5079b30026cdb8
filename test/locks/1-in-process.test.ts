import { expect, test } from 'vitest';
import { createLock } from '../../locks/1-in-process.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { startHolder } from './start-holder.ts';
import { watchClient } from './watched-client.ts';

const { url, connect, key } = ownRedis();

test('1-in-process: waiters enter one at a time, the longest waiter first', async () => {
  const redis = connect();
  const events: string[] = [];
  const a = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  const waiters = ['b', 'c', 'd'].map(async (name) => {
    const lock = createLock(lockOptions({ redis, key: key() }));
    await lock.acquire();
    events.push(`${name} enters`);
    await redis.ping();
    events.push(`${name} leaves`);
    await lock.release();
  });

  await redis.ping();
  events.push('a leaves');
  await a.release();
  await Promise.all(waiters);

  expect(events).toEqual(['a leaves', 'b enters', 'b leaves', 'c enters', 'c leaves', 'd enters', 'd leaves']);
});

test('1-in-process: the release of a waiter does not free the lock of the holder', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();

  await expect(b.release()).rejects.toMatchObject(notHeld);

  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
});

test('1-in-process: Redis is not asked', async () => {
  const watch = watchClient(connect());
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));

  await lock.acquire();
  await lock.release();

  expect(watch.sent).toEqual([]);
});

test('1-in-process: another process has its own mutex, and enters while this one is inside', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const c = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();

  const b = await startHolder({ stage: '1-in-process', url: url(), key: key() });
  b.resume();
  await b.untilSaid('released');

  expect(b.said).toEqual(['asking', 'entered', 'wrote', 'released']);
  await expect(c.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
});
