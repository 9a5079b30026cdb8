// A lock with tryLock: a buyer says how long to wait, and learns whether it got the lock.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

/** How long a buyer waits. */
const PATIENCE_MS = 10_000;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  /** Resolves with true if the lock is ours, with false if the time is up. Rejects if `signal` aborts first. */
  async function tryLock(timeMs: number, signal?: AbortSignal): Promise<boolean> {
    const until = performance.now() + timeMs;
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      if (performance.now() >= until) return false;
      await sleep(retryDelayMs, undefined, { signal });
    }
    return true;
  }

  async function acquire(signal?: AbortSignal) {
    if (!(await tryLock(PATIENCE_MS, signal))) throw new Error('Please come again later.');
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
