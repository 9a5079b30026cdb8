// Exercise 3: a wait that calls itself.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal): Promise<void> {
    if ((await redis.set(key, 'held', 'NX')) === 'OK') return;
    await sleep(retryDelayMs, undefined, { signal });
    // Change this: this call waits for the next one, so it stays in memory.
    await acquire(signal);
  }

  async function release() {
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
