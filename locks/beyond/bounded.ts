// Beyond · bounded
// Problem: a sale that hangs keeps its lock as long as its process lives, because the watchdog keeps renewing it.
// Change:  the watchdog renews the lease at most three times, so a hold lasts at most two leases.
// Leaves:  a sale that takes longer than two leases loses the lock halfway.

import { renewed } from '../drivers/renewed.ts';
import { readScript } from '../drivers/script.ts';
import type { CreateLock } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** The last renewal comes one lease after the lock was acquired, and adds one lease. */
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
    // To the watchdog this is a renewal without a reply: the lease expires, and the lock is lost.
    if (renewals === MAX_RENEWALS) throw new Error(`The lock ${key} has been renewed ${MAX_RENEWALS} times already.`);
    renewals += 1;
    return renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  }

  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);

  return renewed(options, { tryOnce, renew, giveBack });
};
