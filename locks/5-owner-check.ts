// Stage 5 · owner-check
// Problem: a holder slower than its lease deletes the next holder's key.
// Change:  the value is the owner's token; release checks it, then deletes the key.
// Leaves:  checking and deleting are two commands, and the owner can change between them.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from './lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await redis.get(key)) !== ownerToken) throw new LockNotHeldError(key);
    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
