// Exercise 4: a lock that never expires.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    // Change this: a key that nobody deletes stays forever.
    while ((await redis.set(key, 'held', 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
