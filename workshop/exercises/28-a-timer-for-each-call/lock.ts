// A re-entrant lock with a watchdog: each acquire starts a timer that renews the lease, and each release stops it.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(renew, leaseMs / 3);
  }

  async function renew() {
    // No reply says nothing about the lease: the next tick tries again.
    const renewed = await renewIfOwner(redis, [key], [ownerToken, leaseMs]).catch(() => 1);
    if (renewed === 1) return;
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    clearInterval(watchdog);
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
