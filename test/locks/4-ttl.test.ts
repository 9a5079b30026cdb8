import { expect, test } from 'vitest';
import { createLock } from '../../locks/4-ttl.ts';
import { atLeast } from '../machine.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { startHolder } from './start-holder.ts';

const { url, connect, key } = ownRedis();

test('4-ttl: one command creates the key and sets its expiry', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key(), leaseMs: 5_000 }));
  const monitor = await redis.duplicate().monitor();
  const commands: string[][] = [];
  const seenAll = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, args: string[]) => {
      if (args[1] === key()) commands.push(args);
      if (args[0]?.toLowerCase() === 'echo') resolve();
    });
  });

  await lock.acquire();
  const ttl = await redis.pttl(key());
  await redis.echo('the end');
  await seenAll;
  monitor.disconnect();

  expect(commands.map((args) => args.join(' ').toLowerCase())).toEqual([
    `set ${key()} held px 5000 nx`.toLowerCase(),
    `pttl ${key()}`.toLowerCase(),
  ]);
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(5_000);
  await lock.release();
});

test('4-ttl: a waiter enters when the lease of a holder that never leaves has ended', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: 100 }));
  const b = createLock(lockOptions({ redis, key: key() }));
  const startedAt = performance.now();
  await a.acquire();

  await b.acquire();

  // Redis counts in whole milliseconds.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(atLeast(100));
  await b.release();
});

test('4-ttl: the key of a killed holder goes on expiring', async () => {
  const redis = connect();
  const b = createLock(lockOptions({ redis, key: key() }));
  const a = await startHolder({ stage: '4-ttl', url: url(), key: key(), leaseMs: 30_000 });

  await a.kill();

  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(30_000);
  await redis.pexpire(key(), 1);
  await b.acquire();
  await b.release();
});

test('4-ttl: a holder whose lease has ended learns it from its release', async () => {
  const redis = connect();
  const lock = createLock(lockOptions({ redis, key: key() }));
  await lock.acquire();
  await redis.del(key());

  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test("4-ttl: a holder slower than its lease deletes the next holder's key, and a third enters", async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis, key: key() }));
  const c = createLock(lockOptions({ redis, key: key() }));

  await a.acquire();
  await redis.del(key()); // The lease of A ends.
  await b.acquire(AbortSignal.abort());
  await a.release();

  expect(await redis.exists(key())).toBe(0);
  await c.acquire(AbortSignal.abort());
  await c.release();
  await expect(b.release()).rejects.toMatchObject(notHeld);
});
