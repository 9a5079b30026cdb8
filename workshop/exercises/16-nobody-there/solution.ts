// A lock that fails if a sale acquires it again, instead of letting the sale wait for itself.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      // The key existed a moment ago. It may be gone by now: the next try will tell.
      if ((await redis.get(key)) === ownerToken) throw new Error(`The sale ${ownerToken} has the lock ${key} already.`);
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
