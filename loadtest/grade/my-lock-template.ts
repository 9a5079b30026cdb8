// Your own lock, ready to be graded. The command prove tries every interleaving under it, and shows the shortest one that
// breaks it. The command grade does that too, after the conformance checks, and then plays the drills in simulated time.
// It prints the first failure first. Export what your lock promises beyond the checks, and it is judged by that, too:
// export const promises = { reentry: true, renewal: true, fairness: 'order', fencing: true };
//
// The service makes a new lock for each sale. It calls createLock() and acquire(), reads the stock, does the business,
// writes the stock, and calls release(). Two processes do that at the same time, with the same key.
//
// The lock below works: a key with a lease, and a release that deletes only its own key. It fails some drills, and does not promise to hold them:
// - nested-call: a holder that acquires its own lock again waits for itself, through the same object or another one of its request,
//   which has the same ownerToken. Count the holds in Redis, by that token.
// - long-sale: a sale longer than the lease loses the lock. Renew it while it is held (setInterval, each renewEveryMs).
// - partition: as above, and its holder must stop when no renewal had a reply for a lease: abort `lost`, see below.
// - paused-process, blocked-loop, late-write, crossed-write: need a fencing token, made in the same script that takes the lock, which the
//   stock checks at each read and write. It is read after acquire(), so return it from a getter:
//   return { acquire, release, get fencingToken() { return token; } }.
// - failover, clock-jump: no lock in one Redis can hold these.
// - forgotten-sale: no lock can hold this, because the stock is in Redis.
// - starvation, overtaking: need a queue, in which each waiter has a place.
// These it holds now, but fails as soon as it renews without a limit:
// - hung-holder, forgotten-release: a sale that hangs, or forgets a release, keeps the lock. Renew it a limited number of times.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CreateLock } from '../../locks/lock.ts';

// One script, so that nobody can come between the comparison and the delete. It returns 1 when it has deleted the key, else 0.
const releaseIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

// redis         a connection (ioredis). All sales of the process share it: don't change its state, and don't subscribe on it.
// key           the Redis key of this lock. Start the name of every other key with it: they are deleted before each drill.
// ownerToken    a string that no other holder has.
// leaseMs       how long the lock is held unless it is renewed.
// renewEveryMs  how long to wait between two renewals: a third of leaseMs, unless RENEW_EVERY_MS is set.
// retryDelayMs  how long a waiter sleeps between two tries.
// permits       how many holders a semaphore lets in at once; export promises = { permits: true }.
// onLeaseLost   call it when the holder learns that it has lost the lock. It only records that. To stop the sale
//               before its write, return an AbortSignal as `lost` beside acquire and release, and abort it.
export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  // Change this. It resolves when the lock is held. When `signal` aborts, it rejects soon and holds nothing. A signal that is
  // already aborted means: try once. After an acquire() without a reply from Redis, release() is called as soon as Redis is back.
  async function acquire(signal?: AbortSignal) {
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') {
      await sleep(retryDelayMs, undefined, { signal });
    }
  }

  // Change this, too. It resolves when the lock is released, and rejects with the code LOCK_NOT_HELD when it was no longer held.
  async function release() {
    if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 1) return;
    throw Object.assign(new Error(`The lock ${key} was no longer held.`), { code: 'LOCK_NOT_HELD' });
  }

  return { acquire, release };
};
