// A lock with a lease, which only its owner releases.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function isOurs() {
    return (await redis.get(key)) === ownerToken;
  }

  async function release() {
    // After our lease the key may belong to another sale: leave it alone.
    if (!(await isOurs())) throw new LockNotHeldError(key);
    await redis.del(key);
  }

  return { acquire, release };
};
