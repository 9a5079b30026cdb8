// A lock with a watchdog that renews only its own sale's lease.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    watchdog = setInterval(() => void renew().catch(() => {}), leaseMs / 2);
  }

  async function renew() {
    // Another sale has the lock by now: it renews its own lease.
    if ((await redis.get(key)) !== ownerToken) return lose();
    await redis.pexpire(key, leaseMs);
  }

  function lose() {
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    clearInterval(watchdog);
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
