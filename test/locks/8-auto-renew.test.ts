import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLock } from '../../locks/8-auto-renew.ts';
import { aborted, lockOptions, notHeld } from './lock-options.ts';
import { ownRedis } from './own-redis.ts';
import { startHolder } from './start-holder.ts';
import { watchClient } from './watched-client.ts';

const { url, connect, key } = ownRedis();

/** Short enough to see leases end, long enough that a busy machine renews in time. */
const LEASE_MS = 300;

test('8-auto-renew: the watchdog starts the lease anew', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 1_500 }));
  await lock.acquire();
  await redis.pexpire(key(), 900);

  const renewed = await watch.nextAnswer('evalsha');

  expect(renewed).toBe(1);
  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(900);
  expect(ttl).toBeLessThanOrEqual(1_500);
  await lock.release();
});

test('8-auto-renew: a sale of three leases keeps the others out', async () => {
  const redis = connect();
  const watch = watchClient(connect());
  const patience = new AbortController();
  const a = createLock(lockOptions({ redis, key: key(), leaseMs: LEASE_MS }));
  const b = createLock(lockOptions({ redis: watch.client, key: key() }));
  await a.acquire();
  const entered = b.acquire(patience.signal);
  const isOut = expect(entered).rejects.toMatchObject(aborted);

  await sleep(3 * LEASE_MS);
  patience.abort();

  await isOut;
  expect(watch.sent.length).toBeGreaterThan(10);
  await a.release();
});

test('8-auto-renew: a nested release keeps the watchdog going', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const a = createLock(lockOptions({ redis: watch.client, key: key(), ownerToken: 'a', leaseMs: LEASE_MS }));
  const b = createLock(lockOptions({ redis, key: key() }));
  await a.acquire();
  await a.acquire();

  await a.release();

  expect(await redis.hgetall(key())).toEqual({ a: '1' });
  expect(await watch.nextAnswer('evalsha')).toBe(1);
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  await a.release();
});

test('8-auto-renew: nested acquires share one watchdog', async () => {
  const watch = watchClient(connect());
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: LEASE_MS }));
  await lock.acquire();
  await lock.acquire();
  await lock.acquire();
  const sent = watch.sent.length;

  await sleep(LEASE_MS);

  expect(watch.sent.length - sent).toBeGreaterThan(0);
  expect(watch.sent.length - sent).toBeLessThanOrEqual(3);
  for (const _hold of [1, 2, 3]) await lock.release();
});

test('8-auto-renew: no renewal follows the last release', async () => {
  const watch = watchClient(connect());
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 150 }));
  await lock.acquire();
  await watch.nextAnswer('evalsha');
  await lock.release();
  const sent = [...watch.sent];

  await sleep(150);

  expect(watch.sent).toEqual(sent);
});

test('8-auto-renew: no renewal follows a release that Redis does not answer', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 150 }));
  await lock.acquire();
  watch.fail('evalsha', new Error('Connection is closed.'));
  await expect(lock.release()).rejects.toThrow('Connection is closed.');
  const sent = [...watch.sent];

  await sleep(200);

  expect(watch.sent).toEqual(sent);
  expect(await redis.exists(key())).toBe(0);
});

test('8-auto-renew: a lost lease is reported once, and is not renewed again', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const losses = countLosses();
  const a = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 150, onLeaseLost: losses.record }));
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  await a.acquire();

  await redis.del(key()); // The lease of A ends.
  await b.acquire();
  await losses.first;
  const sent = [...watch.sent];
  await sleep(150);

  expect(losses.count()).toBe(1);
  expect(watch.sent).toEqual(sent);
  expect(await redis.hgetall(key())).toEqual({ b: '1' });
  await expect(a.release()).rejects.toMatchObject(notHeld);
  await b.release();
});

test('8-auto-renew: a lost lease is reported once, even when two renewals are on their way', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const losses = countLosses();
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 150, onLeaseLost: losses.record }));
  await lock.acquire();
  const renewals = [watch.hold('evalsha'), watch.hold('evalsha')];

  for (const renewal of renewals) await renewal.reached;
  await redis.del(key());
  for (const renewal of renewals) renewal.letGo();
  await losses.first;
  await redis.ping();

  expect(losses.count()).toBe(1);
  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test('8-auto-renew: a renewal without an answer is not a loss, and the next tick asks again', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const losses = countLosses();
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 1_200, onLeaseLost: losses.record }));
  await lock.acquire();

  await watch.fail('evalsha', new Error('Connection is closed.'));
  const renewed = await watch.nextAnswer('evalsha');

  expect(renewed).toBe(1);
  expect(losses.count()).toBe(0);
  await lock.release();
});

test('8-auto-renew: a release while a renewal is on its way is not a loss', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const losses = countLosses();
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: 1_200, onLeaseLost: losses.record }));
  await lock.acquire();
  const renewal = watch.hold('evalsha');

  await renewal.reached;
  await lock.release();
  renewal.letGo();
  await redis.ping();

  // Redis answers in order: the renewal, which was sent after the ping, has its answer before this.
  expect(await redis.exists(key())).toBe(0);
  expect(losses.count()).toBe(0);
});

test('8-auto-renew: a refused release does not keep the next hold from being renewed', async () => {
  const watch = watchClient(connect());
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: LEASE_MS }));
  await expect(lock.release()).rejects.toMatchObject(notHeld);
  await lock.acquire();

  const renewed = await Promise.race([watch.nextAnswer('evalsha'), sleep(LEASE_MS, 'no renewal')]);

  expect(renewed).toBe(1);
  await lock.release();
});

test('8-auto-renew: a holder that lost its lease and acquires anew is renewed anew', async () => {
  const redis = connect();
  const watch = watchClient(redis);
  const losses = countLosses();
  const lock = createLock(
    lockOptions({ redis: watch.client, key: key(), leaseMs: LEASE_MS, onLeaseLost: losses.record }),
  );
  await lock.acquire();
  await redis.del(key());
  await losses.first;
  await lock.acquire(AbortSignal.abort());

  const renewed = await Promise.race([watch.nextAnswer('evalsha'), sleep(LEASE_MS, 'no renewal')]);

  expect(renewed).toBe(1);
  await lock.release();
  await expect(lock.release()).rejects.toMatchObject(notHeld);
});

test('8-auto-renew: the lease of a killed holder ends', async () => {
  const redis = connect();
  const b = createLock(lockOptions({ redis, key: key() }));
  const a = await startHolder({ stage: '8-auto-renew', url: url(), key: key(), leaseMs: 30_000 });

  await a.kill();

  const ttl = await redis.pttl(key());
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(30_000);
  await redis.pexpire(key(), 1);
  await b.acquire();
  await b.release();
});

test('8-auto-renew: a paused process cannot renew, and wakes up believing it still holds', async () => {
  const redis = connect();
  const b = createLock(lockOptions({ redis, key: key(), ownerToken: 'b' }));
  const a = await startHolder({ stage: '8-auto-renew', url: url(), key: key(), leaseMs: LEASE_MS });

  a.pause();
  await b.acquire();
  const saidBeforePause = [...a.said];
  a.resume();
  a.wake();
  await a.untilSaid('LOCK_NOT_HELD');

  expect(saidBeforePause).toEqual(['asking', 'entered']);
  expect(a.said).toContain('wrote');
  expect(a.said).not.toContain('released');
  expect(await redis.hgetall(key())).toEqual({ b: '1' });
  await b.release();
});

/** Counts how often a holder learns that its lease is lost. */
function countLosses() {
  let count = 0;
  let onFirst = () => {};
  const first = new Promise<void>((resolve) => (onFirst = resolve));
  return {
    record() {
      count += 1;
      onFirst();
    },
    /** Resolves when it learns it for the first time. */
    first,
    count: () => count,
  };
}
