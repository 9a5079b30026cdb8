// A lock with a watchdog that renews the lease every third of its length, until the sale releases the lock.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const renewedMs = Math.round(1.5 * leaseMs);
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(renew, leaseMs / 3);
  }

  async function renew() {
    // Half a lease more than at first, because a tick may be late. No reply says nothing: the next tick tries again.
    const renewed = await redis.pexpire(key, renewedMs).catch(() => 1);
    if (renewed === 1) return;
    // The key is gone, and the lease with it.
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    clearInterval(watchdog);
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
