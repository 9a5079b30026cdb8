// Exercise 8: a lease that nobody renews.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
    // Change this: from here on the lease runs out, however long the sale takes.
  }

  async function release() {
    // And this: a holder that has left must not renew.
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
