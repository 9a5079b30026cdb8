// Stage 8 · auto-renew
// Problem: a sale longer than the lease loses the lock half way.
// Change:  a watchdog renews the lease each time a third of it has passed.
// Leaves:  a paused process cannot renew, and wakes up believing it still holds.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from './drivers/script.ts';
import { type CreateLock, LockNotHeldError } from './lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs, renewEveryMs, retryDelayMs, onLeaseLost } = options;
  let holdCount = 0;
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
    holdCount += 1;
    if (holdCount === 1) watchdog = setInterval(renew, renewEveryMs);
  }

  async function renew() {
    // No answer is no news: the lease may still be ours, so the next tick asks again.
    const renewed = await renewIfOwner(redis, [key], [ownerToken, leaseMs]).catch(() => undefined);
    if (renewed !== 0 || holdCount === 0) return;
    holdCount = 0;
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) clearInterval(watchdog);
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
