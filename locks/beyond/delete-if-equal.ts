// Beyond · delete-if-equal
// Problem: checking and deleting in one step takes a script, which every server must be sent and may lose.
// Change:  one command compares and deletes: DELIFEQ in Valkey 9, DELEX with IFEQ in Redis 8.4.
// Leaves:  it compares strings only, so the lock is not re-entrant: a holder that tries to acquire it again waits for itself.
// Source:  valkey.io, DELIFEQ; redis.io, DELEX.

import { setTimeout as sleep } from 'node:timers/promises';
import { deleteIfEqual } from '../drivers/delete-if-equal.ts';
import { type CreateLock, LockNotHeldError } from '../lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await deleteIfEqual(redis, key, ownerToken)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
