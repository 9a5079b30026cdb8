// Stage 3 · spin
// Problem: every failed try stays in memory until the last one returns.
// Change:  acquire retries in a loop instead of calling itself.
// Leaves:  a holder that crashes never deletes the key, so everyone waits forever.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from './lock.ts';

export const createLock: CreateLock = ({ redis, key, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, 'held', 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
