// A lock with a watchdog: it renews the lease as long as the sale is inside, however slow the bank is.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const renewIfEqual = readScript('renew-if-equal');
const releaseIfOwner = readScript('release-if-owner');

/** A third of the lease leaves time for two more tries. */
const RENEW_EVERY_MS = 10_000;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(renew, RENEW_EVERY_MS);
  }

  async function renew() {
    // No reply says nothing about the lease: the next tick tries again.
    const renewed = await renewIfEqual(redis, [key], [ownerToken, leaseMs]).catch(() => 1);
    if (renewed === 1) return;
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    clearInterval(watchdog);
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
