import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/bounded.ts';
import { atLeast, atMost } from '../../machine.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis();

/** Short enough to see leases end, long enough that a busy machine renews in time. */
const LEASE_MS = 300;

/** A holder that does not release, whose losses are counted. */
async function startHolder() {
  const watch = watchClient(connect());
  let losses = 0;
  const onLeaseLost = () => (losses += 1);
  const lock = createLock(lockOptions({ redis: watch.client, key: key(), leaseMs: LEASE_MS, onLeaseLost }));
  const askedAt = performance.now();
  await lock.acquire();
  return { lock, askedAt, sent: watch.sent, losses: () => losses };
}

test('bounded: three renewals after it was taken the lock ends by itself, and its holder learns of it', async () => {
  const redis = connect();
  const { lock, askedAt, sent, losses } = await startHolder();
  const next = createLock(lockOptions({ redis, key: key() }));

  await once(lock.lost as AbortSignal, 'abort');
  const heldMs = performance.now() - askedAt;
  await next.acquire(AbortSignal.timeout(5_000));

  // The try that took it, and three renewals.
  expect(sent).toEqual(['evalsha', 'evalsha', 'evalsha', 'evalsha']);
  expect(heldMs).toBeGreaterThan(atLeast(2 * LEASE_MS));
  expect(heldMs).toBeLessThan(atMost(3 * LEASE_MS));
  expect(losses()).toBe(1);
  expect(lock.lost?.reason).toMatchObject(notHeld);
  await expect(lock.release()).rejects.toMatchObject(notHeld);
  await next.release();
});

test('bounded: it is renewed until then', async () => {
  const { lock, sent } = await startHolder();
  const other = createLock(lockOptions({ redis: connect(), key: key() }));

  while (sent.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));

  await expect(other.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  expect(lock.lost?.aborted).toBe(false);
  await lock.release();
});

test('bounded: each hold may be renewed as often, also by the holder that had the lock before', async () => {
  const { lock, sent, losses } = await startHolder();
  while (sent.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  await lock.release();
  const sentBefore = sent.length;

  await lock.acquire();
  await once(lock.lost as AbortSignal, 'abort');

  expect(sent.slice(sentBefore)).toEqual(['evalsha', 'evalsha', 'evalsha', 'evalsha']);
  expect(losses()).toBe(1);
});
