// Beyond · fenced-writes
// Problem: a paused process cannot renew, and wakes up believing it still holds.
// Change:  every acquisition gets a larger number, and the stock refuses a write with a number older than one that has written.
// Leaves:  a late write may still come between the read and the write of the next holder, which then undoes it.
// Source:  Kleppmann, How to do distributed locking, 2016.

import { renewed } from '../drivers/renewed.ts';
import { type RunScript, readScript } from '../drivers/script.ts';
import type { CreateLock } from '../lock.ts';

const acquireFenced: RunScript<string | null> = readScript('acquire-fenced');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs } = options;
  let fencingToken: string | undefined;

  async function tryOnce() {
    // The token is made in the step that takes the lock: a later INCR could overtake that of the next holder.
    const token = await acquireFenced(redis, [key, `${key}:tokens`], [ownerToken, leaseMs]);
    if (token === null) return false;
    fencingToken = token;
    return true;
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);

  return {
    ...renewed(options, { tryOnce, renew, giveBack }),
    get fencingToken() {
      return fencingToken;
    },
    // On purpose: only the write shows its token.
    hasUnfencedReads: true,
  };
};
