// A lock of your own, to be graded. The command prove looks at every order of events under it, and shows the shortest one that
// breaks it; the command grade does so too, after the conformance checks, then plays the drills in virtual time.
// It says first what is wrong. What your lock promises beyond the checks, say in an export, and it is judged:
// export const promises = { reentry: true, renewal: true, fairness: 'order', fencing: true };
//
// The service makes a new lock for each sale: createLock() is called, then acquire(), then the stock is read, the sale is
// made, the stock is written, and release() is called. Two processes do so at the same time, with the same key.
//
// What is here works: a key with a lease, and a release that deletes only what is its own. Some drills it fails, and does not promise to hold:
// - nested-call: a holder that asks for its own lock again waits for itself, by the same object or by another one of its request,
//   which has the same ownerToken. Count the holds in Redis, by that token.
// - long-sale: a sale longer than the lease loses the lock. Renew it while it is held (setInterval, each renewEveryMs).
// - partition: as above, and its holder must stop when no renewal was answered for a lease: abort `lost`, which see below.
// - paused-process, blocked-loop, late-write, crossed-write: need a fencing token, made in the same script that takes the lock, which the
//   stock checks at each read and write. It is read after acquire(), so give it by a getter:
//   return { acquire, release, get fencingToken() { return token; } }.
// - failover, clock-jump: no lock in one Redis can hold them.
// - forgotten-sale: no lock can hold it, because the stock is in Redis.
// - starvation, overtaking: need a queue, in which each waiter has a place.
// And one that it holds it fails as soon as it renews without end:
// - hung-holder, forgotten-release: a sale that hangs, or forgets a release, keeps the lock. Renew it so many times, and no more.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CreateLock } from '../../locks/lock.ts';

// One script, so that nobody comes between the look and the delete. It returns 1 when it has deleted the key, else 0.
const releaseIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

// redis         a connection (ioredis). It is shared by all sales of the process: change nothing of it, subscribe to nothing.
// key           the Redis key of this lock. Begin the names of further keys with it: they are deleted before each drill.
// ownerToken    a text that no other holder has.
// leaseMs       how long the lock may be held when nobody renews it.
// renewEveryMs  how long to wait between two renewals: a third of leaseMs, unless RENEW_EVERY_MS is set.
// retryDelayMs  how long a waiter sleeps between two tries.
// permits       how many may be inside at once, for a semaphore: it says so by promises = { permits: true }.
// onLeaseLost   to be called when the holder learns that the lock is no longer its own. It only records that. To stop the sale
//               before its write, give an AbortSignal as `lost` along with acquire and release, and abort it.
export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  // Change this: it resolves when the lock is held. When `signal` aborts meanwhile, it rejects soon and holds nothing; aborted
  // already, it means: try once. After an acquire() that Redis did not answer, release() is called as soon as Redis is back.
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  // And this: it resolves when the lock is given up, and rejects with the code LOCK_NOT_HELD when it was no longer held.
  async function release() {
    if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 1) return;
    throw Object.assign(new Error(`The lock ${key} was no longer held.`), { code: 'LOCK_NOT_HELD' });
  }

  return { acquire, release };
};
