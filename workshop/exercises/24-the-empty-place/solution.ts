// A fair lock: the sales queue in Redis, and the first one enters when the lock is free.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const takeIfFirst = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('LINDEX', KEYS[2], 0) ~= ARGV[1] then return 0 end
redis.call('LPOP', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;
const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  const queue = `${key}:queue`;

  async function acquire(signal?: AbortSignal) {
    await redis.rpush(queue, ownerToken);
    while ((await redis.eval(takeIfFirst, 2, key, queue, ownerToken, leaseMs)) === 0) {
      // A buyer who gives up ends the wait, and leaves the queue.
      await sleep(retryDelayMs, undefined, { signal }).catch(async (error) => {
        await redis.lrem(queue, 0, ownerToken);
        throw error;
      });
    }
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
