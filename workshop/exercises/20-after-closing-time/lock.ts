// A lock with a watchdog that stops by itself: when the key is gone, there is nothing left to renew.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(renew, leaseMs / 3);
  }

  async function renew() {
    // 0 if the key is gone. No reply says nothing about the lease: the next tick tries again.
    const renewed = await redis.pexpire(key, leaseMs).catch(() => 1);
    if (renewed === 0) clearInterval(watchdog);
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
