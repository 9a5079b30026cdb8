// A lock with a lease. The value of its key says who is inside, which helps when somebody looks into Redis.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    const deleted = await redis.del(key);
    // The lease had ended, and Redis deleted the key before us.
    if (deleted === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
