// A lock with a lease, which only its owner gives up.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    // After our lease the key may be that of another sale. Looking and deleting are one step, so nothing happens in between.
    if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
