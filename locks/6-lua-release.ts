// Stage 6 · lua-release
// Problem: checking and deleting are two commands, and the owner can change between them.
// Change:  one Lua script checks the owner and deletes the key.
// Leaves:  a holder that tries to acquire its own lock again waits for itself.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from './drivers/script.ts';
import { type CreateLock, LockNotHeldError } from './lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
