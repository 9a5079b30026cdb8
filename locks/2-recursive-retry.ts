// Stage 2 · recursive-retry
// Problem: the other service has its own mutex, so both still enter at once.
// Change:  the lock is a key in Redis that both services share; if it is taken, acquire waits and calls itself.
// Leaves:  every failed try stays in memory until the last one returns.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from './lock.ts';

export const createLock: CreateLock = ({ redis, key, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal): Promise<void> {
    if ((await redis.set(key, 'held', 'NX')) === 'OK') return;
    await sleep(retryDelayMs, undefined, { signal });
    await acquire(signal);
  }

  async function release() {
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
