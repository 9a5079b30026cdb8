// A re-entrant lock with a watchdog: the first acquire starts the timer that renews the lease, and the last release ends it.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  let holdCount = 0;
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
    holdCount += 1;
    if (holdCount === 1) watchdog = setInterval(renew, leaseMs / 3);
  }

  async function renew() {
    // No answer is no news: the next tick asks again.
    const renewed = await renewIfOwner(redis, [key], [ownerToken, leaseMs]).catch(() => 1);
    if (renewed === 1) return;
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    holdCount -= 1;
    if (holdCount === 0) clearInterval(watchdog);
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
