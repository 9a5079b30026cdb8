// Beyond · bounded
// Problem: a sale that hangs keeps its lock for as long as its process lives, because the watchdog renews it.
// Change:  the watchdog renews the lease three times at most, so that a hold lasts two leases and no longer.
// Leaves:  a sale that works for more than two leases loses the lock half way.

import { renewed } from '../drivers/renewed.ts';
import { readScript } from '../drivers/script.ts';
import type { CreateLock } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** The last of them comes a lease after the lock was taken, and lasts a lease more. */
const MAX_RENEWALS = 3;

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs } = options;
  let renewals = 0;

  async function tryOnce() {
    const holdCount = await acquireReentrant(redis, [key], [ownerToken, leaseMs]);
    if (holdCount === 1) renewals = 0;
    return holdCount > 0;
  }

  async function renew() {
    // The watchdog takes this for a renewal without an answer: the lease runs to its end, and then the lock is lost.
    if (renewals === MAX_RENEWALS) throw new Error(`The lock ${key} was renewed ${MAX_RENEWALS} times.`);
    renewals += 1;
    return renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  }

  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);

  return renewed(options, { tryOnce, renew, giveBack });
};
