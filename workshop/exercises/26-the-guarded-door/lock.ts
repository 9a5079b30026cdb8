// A lock with a fencing token, created in the same step. The stock refuses a write with an older token than it has seen.

import { setTimeout as sleep } from 'node:timers/promises';
import { type RunScript, readScript } from '../../../locks/drivers/script.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const acquireFenced: RunScript<string | null> = readScript('acquire-fenced');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  let fencingToken: string | undefined;

  async function acquire(signal?: AbortSignal) {
    const tryOnce = () => acquireFenced(redis, [key, `${key}:tokens`], [ownerToken, leaseMs]);
    let token = await tryOnce();
    while (token === null) {
      await sleep(retryDelayMs, undefined, { signal });
      token = await tryOnce();
    }
    fencingToken = token;
  }

  async function release() {
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return {
    acquire,
    release,
    // A read changes nothing, so the stock does not have to compare its token.
    hasUnfencedReads: true,
    get fencingToken() {
      return fencingToken;
    },
  };
};
