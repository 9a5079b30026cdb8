// Beyond · semaphore
// Problem: a lock admits one holder at a time, even where three could work side by side.
// Change:  there are several permits: a holder takes one, and it comes back on release or when its lease expires.
// Leaves:  it limits how many work at once but does not protect the stock; a paused holder that resumes exceeds the limit.
// Source:  Redisson, RPermitExpirableSemaphore; Dijkstra, Cooperating sequential processes, 1965.

import { renewed } from '../drivers/renewed.ts';
import { readScript } from '../drivers/script.ts';
import { takeUnderPermit } from '../drivers/under-permit.ts';
import type { CreateLock, TakeOne } from '../lock.ts';

const acquirePermit = readScript('acquire-permit');
const renewPermit = readScript('renew-permit');
const releasePermit = readScript('release-permit');

/** One permit. */
export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs, permits = 1 } = options;

  return renewed(options, {
    tryOnce: async () => (await acquirePermit(redis, [key], [ownerToken, leaseMs, permits])) === 1,
    renew: () => renewPermit(redis, [key], [ownerToken, leaseMs]),
    giveBack: () => releasePermit(redis, [key], [ownerToken]),
  });
};

export const takeOne: TakeOne = takeUnderPermit(createLock);
