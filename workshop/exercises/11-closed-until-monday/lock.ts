// The lock of the shop: a key in Redis that only one sale can create.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    // 1 if the key is new, 0 if another sale has created it.
    while ((await redis.setnx(key, ownerToken)) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
    // A holder that crashes keeps nobody out for longer than its lease.
    await redis.pexpire(key, leaseMs);
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
