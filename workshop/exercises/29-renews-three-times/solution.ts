// A lock with a watchdog: it renews the lease of its sale each time a third of it has passed, until the sale gives the lock up.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const renewIfEqual = readScript('renew-if-equal');
const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(renew, leaseMs / 3);
  }

  async function renew() {
    // No answer is no news: the next tick asks again.
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
