// A lock with a fencing token: each sale has a number, and the stock refuses a number smaller than one it has seen.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const takeAndCount = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return nil end
redis.call('INCR', KEYS[2])
return redis.call('GET', KEYS[2])`;
const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  let fencingToken: string | undefined;

  async function acquire(signal?: AbortSignal) {
    // The step that acquires the lock creates the number, so the numbers follow the order of the holders.
    const tryOnce = () => redis.eval(takeAndCount, 2, key, `${key}:tokens`, ownerToken, leaseMs);
    let number = await tryOnce();
    while (number === null) {
      await sleep(retryDelayMs, undefined, { signal });
      number = await tryOnce();
    }
    fencingToken = String(number);
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
