// Beyond · fenced-writes
// Problem: a paused process cannot renew its lease, and resumes believing it still holds the lock.
// Change:  every acquisition gets a larger number; the stock refuses a write with a smaller number than one that has written.
// Leaves:  a late write can still land between the read and the write of the next holder, which then overwrites it.
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
    // The step that takes the lock also creates the token: a separate INCR could run after that of the next holder.
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
    // On purpose: only the write carries the token.
    hasUnfencedReads: true,
  };
};
