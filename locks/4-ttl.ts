// Stage 4 · ttl
// Problem: a holder that crashes never deletes the key, so everyone waits forever.
// Change:  the key gets a TTL of leaseMs, set by the same command that creates it.
// Leaves:  a holder slower than its lease deletes the next holder's key.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from './lock.ts';

export const createLock: CreateLock = ({ redis, key, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, 'held', 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
