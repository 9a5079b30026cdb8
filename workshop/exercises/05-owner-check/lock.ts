// Exercise 5: whose key is it?

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    // Change this: the value says nothing about who is inside. createLock is given `ownerToken`, too.
    while ((await redis.set(key, 'held', 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    // And this: it deletes the key of any holder.
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
