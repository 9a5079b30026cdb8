// Beyond · semaphore
// Problem: a lock lets in one at a time, also where three could work side by side.
// Change:  so many permits: who takes one is inside, and it comes back by a release, or when its lease ends.
// Leaves:  it limits how many work at once, and protects no stock; a holder that is paused is one more than there are permits.
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
