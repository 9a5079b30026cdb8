// Beyond · fenced-writes
// Problem: a paused process cannot renew, and wakes up believing it still holds.
// Change:  every acquisition gets a larger number, and the stock refuses a write with a number older than one that has written.
// Leaves:  a late write may still come between the read and the write of the next holder, which then undoes it.
// Source:  Kleppmann, How to do distributed locking, 2016.

import { setTimeout as sleep } from 'node:timers/promises';
import { type RunScript, readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError } from '../lock.ts';

const acquireFenced: RunScript<string | null> = readScript('acquire-fenced');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const lost = new AbortController();
  let holdCount = 0;
  let fencingToken: string | undefined;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    // The token is made in the step that takes the lock: a later INCR could overtake that of the next holder.
    const tryOnce = () => {
      askedAt = performance.now();
      return acquireFenced(redis, [key, `${key}:tokens`], [ownerToken, leaseMs]);
    };
    let token = await tryOnce();
    while (token === null) {
      await sleep(retryDelayMs, undefined, { signal });
      token = await tryOnce();
    }
    fencingToken = token;
    holdCount += 1;
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) watchdog?.stop();
    if ((await releaseReentrant(redis, [key], [ownerToken, leaseMs])) === -1) throw new LockNotHeldError(key);
  }

  return {
    acquire,
    release,
    lost: lost.signal,
    get fencingToken() {
      return fencingToken;
    },
    // On purpose: only the write shows its token.
    hasUnfencedReads: true,
  };
};
