// Beyond · replicated
// Problem: Redis replies before its replica has the write, so a failover loses locks and confirmed sales.
// Change:  WAIT: a holder enters once a replica has confirmed the lock; a sale is answered once it has confirmed the write.
// Leaves:  a failover may promote a replica that did not confirm, and without a replica nobody can sell.
// Source:  redis.io, WAIT.

import { renewed } from '../drivers/renewed.ts';
import { readScript } from '../drivers/script.ts';
import { type CreateLock, NotReplicatedError } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** The number of replicas that must confirm. */
const REPLICAS = 1;
/** How long WAIT waits for them, in milliseconds; a fifth of the lease if that is less. It blocks the connection meanwhile. */
const CONFIRM_LIMIT_MS = 300;

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs } = options;
  const limitMs = Math.ceil(Math.min(CONFIRM_LIMIT_MS, leaseMs / 5));

  async function tryOnce() {
    const askedAt = performance.now();
    if ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) return false;
    await confirm().catch(async (error) => {
      // A failover would lose this lock, so release it. The cause says why that failed: it is then released when Redis replies.
      await giveBack().catch((cause) => Promise.reject(new NotReplicatedError(key, { cause })));
      throw error;
    });
    if (performance.now() - askedAt < leaseMs) return true;
    // The confirmation came after the lease expired: another holder may have the lock.
    await giveBack();
    return false;
  }

  async function confirm() {
    // Use the connection that wrote: on any other, WAIT says nothing about this write.
    if ((await redis.wait(REPLICAS, limitMs)) < REPLICAS) throw new NotReplicatedError(key);
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);

  return { ...renewed(options, { tryOnce, renew, giveBack }), confirm };
};
