// Stage 6 · lua-release
// Problem: looking and deleting are two commands; the owner can change between them.
// Change:  one Lua script looks and deletes.
// Leaves:  a holder that asks for its own lock again waits for itself.

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
