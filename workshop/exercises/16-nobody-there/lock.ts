// A lock that fails if a sale acquires it again, instead of letting the sale wait for itself.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function readOwner(): Promise<string> {
    const owner = await redis.get(key);
    if (owner === null) throw new Error(`The lock ${key} has no owner.`);
    return owner;
  }

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      // The key exists. If it is our own, we would wait for ourselves.
      if ((await readOwner()) === ownerToken) throw new Error(`The sale ${ownerToken} has the lock ${key} already.`);
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
