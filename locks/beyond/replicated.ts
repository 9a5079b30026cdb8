// Beyond · replicated
// Problem: Redis answers before its replica has heard, and a failover forgets the lock, and sales that were answered.
// Change:  WAIT: a holder enters when a replica has confirmed the lock, and a sale is answered when it has confirmed the write.
// Leaves:  another replica may be promoted than the one that has confirmed, and nobody sells without a replica.
// Source:  redis.io, WAIT.

import { renewed } from '../drivers/renewed.ts';
import { readScript } from '../drivers/script.ts';
import { type CreateLock, NotReplicatedError } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** How many replicas must confirm. */
const REPLICAS = 1;
/** How long they are waited for, in milliseconds; a fifth of the lease if that is less. The connection stands still meanwhile. */
const CONFIRM_LIMIT_MS = 300;

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs } = options;
  const limitMs = Math.ceil(Math.min(CONFIRM_LIMIT_MS, leaseMs / 5));

  async function tryOnce() {
    const askedAt = performance.now();
    if ((await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0) return false;
    await confirm().catch(async (error) => {
      // A failover would forget this lock. The cause says that it could not be given back: then it is when Redis answers.
      await giveBack().catch((cause) => Promise.reject(new NotReplicatedError(key, { cause })));
      throw error;
    });
    if (performance.now() - askedAt < leaseMs) return true;
    // The confirmation came when the lease was over: another may hold the lock.
    await giveBack();
    return false;
  }

  async function confirm() {
    // On the connection that has written: on another one the answer says nothing of it.
    if ((await redis.wait(REPLICAS, limitMs)) < REPLICAS) throw new NotReplicatedError(key);
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);

  return { ...renewed(options, { tryOnce, renew, giveBack }), confirm };
};
