// A lock with a daemon timer: a second before a lease of 30 seconds ends, it asks three times for 20 more seconds.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  const secondMs = leaseMs / 30;
  let demon: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    demon = setTimeout(renew, 29 * secondMs);
  }

  async function renew() {
    for (let times = 0; times < 3; times += 1) {
      await redis.pexpire(key, Math.round(20 * secondMs)).catch(() => 0);
    }
  }

  async function release() {
    clearTimeout(demon);
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
