// Stage 8 · auto-renew
// Problem: a sale that takes longer than the lease loses the lock halfway.
// Change:  a watchdog renews the lease every third of its length.
// Leaves:  a paused process cannot renew its lease, and resumes believing it still holds the lock.

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
    // No reply says nothing about the lease: it may still be ours, so the next tick tries again.
    const renewed = await renewIfOwner(redis, [key], [ownerToken, leaseMs]).catch(() => undefined);
    if (renewed !== 0 || holdCount === 0) return;
    holdCount = 0;
    clearInterval(watchdog);
    onLeaseLost();
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Stop before asking Redis: if Redis does not reply, the lease must expire by itself.
    if (holdCount === 0) clearInterval(watchdog);
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
