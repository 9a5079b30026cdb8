// Exercise 5: whose key is it?

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    // Change this: the value does not say who is inside. createLock also gets `ownerToken`.
    while ((await redis.set(key, 'held', 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    // And this: it deletes any holder's key.
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
