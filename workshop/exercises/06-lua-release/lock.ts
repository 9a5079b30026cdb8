// Exercise 6: a check, then a delete.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    // Change this: time passes between the check and the delete.
    if ((await redis.get(key)) !== ownerToken) throw new LockNotHeldError(key);
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
