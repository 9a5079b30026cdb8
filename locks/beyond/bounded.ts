// Beyond · bounded
// Problem: a sale that hangs keeps its lock for as long as its process lives, because the watchdog renews it.
// Change:  the watchdog renews the lease three times at most, so that a hold lasts two leases and no longer.
// Leaves:  a sale that works for more than two leases loses the lock half way.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** The last of them comes a lease after the lock was taken, and lasts a lease more. */
const MAX_RENEWALS = 3;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const lost = new AbortController();
  let holdCount = 0;
  let renewals = 0;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    const tryOnce = () => {
      askedAt = performance.now();
      return acquireReentrant(redis, [key], [ownerToken, leaseMs]);
    };
    while ((await tryOnce()) === 0) await sleep(retryDelayMs, undefined, { signal });
    holdCount += 1;
    if (holdCount > 1) return;
    renewals = 0;
    watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  async function renew() {
    // The watchdog takes this for a renewal without an answer: the lease runs to its end, and then the lock is lost.
    if (renewals === MAX_RENEWALS) throw new Error(`The lock ${key} was renewed ${MAX_RENEWALS} times.`);
    renewals += 1;
    return renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  }

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

  return { acquire, release, lost: lost.signal };
};
