// Stage 7 · reentrant
// Problem: a holder that tries to acquire its own lock again waits for itself.
// Change:  the key is a hash { owner: hold count }; Lua scripts acquire and release it.
// Leaves:  a sale that takes longer than the lease loses the lock halfway.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from './drivers/script.ts';
import { type CreateLock, LockNotHeldError } from './lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
