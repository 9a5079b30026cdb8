// A lock with a second key, so that the dashboard can show who is inside.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  // The dashboard reads this key. Nobody waits for it.
  const holderKey = `${key}:holder`;

  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
    await redis.set(holderKey, ownerToken, 'PX', leaseMs);
  }

  async function release() {
    if ((await releaseIfOwner(redis, [holderKey], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
