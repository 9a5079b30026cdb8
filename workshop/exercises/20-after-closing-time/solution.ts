// A lock with a watchdog that ends with its sale.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(renew, leaseMs / 3);
  }

  async function renew() {
    // 0 when the key is gone. No answer is no news: the next tick asks again.
    const renewed = await redis.pexpire(key, leaseMs).catch(() => 1);
    if (renewed === 0) clearInterval(watchdog);
  }

  async function release() {
    // The next key of this name is that of another sale.
    clearInterval(watchdog);
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
