// A re-entrant lock: a hash in Redis says who holds it, and how often.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
// Releases one of our holds. Returns how many are left, or -1 if we had none.
const releaseOne = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return -1
end
local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if hold_count > 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('DEL', KEYS[1])
end
return hold_count`;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    // The hold count, or 0 if another sale has the lock.
    while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await redis.eval(releaseOne, 1, key, ownerToken, leaseMs)) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
