// A lock with a wait limit: a buyer who has waited long enough is asked to come back later.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseIfOwner = readScript('release-if-owner');

/** After this many tries a buyer is asked to come back later. */
const MOST_TRIES = 1_000;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  /** Resolves with true if the lock is ours. */
  async function tryLock(triesLeft: number, signal?: AbortSignal): Promise<boolean> {
    const answer = await redis.set(key, ownerToken, 'PX', leaseMs, 'NX');
    if (answer !== 'OK' && triesLeft > 0) {
      await sleep(retryDelayMs, undefined, { signal });
      return tryLock(triesLeft - 1, signal);
    }
    return answer === 'OK';
  }

  async function acquire(signal?: AbortSignal) {
    if (!(await tryLock(MOST_TRIES, signal))) throw new Error('Too many buyers. Please come again later.');
  }

  async function release() {
    if ((await releaseIfOwner(redis, [key], [ownerToken])) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
