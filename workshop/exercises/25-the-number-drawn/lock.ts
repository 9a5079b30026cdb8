// A lock with a fencing token: each sale has a number, and the stock refuses a number smaller than one it has seen.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  let fencingToken: string | undefined;

  async function acquire(signal?: AbortSignal) {
    // INCR is atomic: no two sales get the same number.
    fencingToken = String(await redis.incr(`${key}:tokens`));
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return {
    acquire,
    release,
    get fencingToken() {
      return fencingToken;
    },
  };
};
