// A re-entrant lock: a hash in Redis says who holds it and how often, so that a function inside the sale can acquire it again.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, leaseMs, retryDelayMs }) => {
  // Unique, on this node and on all others.
  const owner = randomUUID();

  async function acquire(signal?: AbortSignal) {
    // The hold count, or 0 if another sale has the lock.
    while ((await acquireReentrant(redis, [key], [owner, leaseMs])) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  async function release() {
    if ((await releaseReentrant(redis, [key], [owner, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
