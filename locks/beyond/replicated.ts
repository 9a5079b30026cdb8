// Beyond · replicated
// Problem: Redis answers before its replica has heard, and a failover forgets the lock, and sales that were answered.
// Change:  WAIT: a holder enters when a replica has confirmed the lock, and a sale is answered when it has confirmed the write.
// Leaves:  another replica may be promoted than the one that has confirmed, and nobody sells without a replica.
// Source:  redis.io, WAIT.

import { setTimeout as sleep } from 'node:timers/promises';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError, NotReplicatedError } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** How many replicas must confirm. */
const REPLICAS = 1;
/** How long they are waited for, in milliseconds; a fifth of the lease if that is less. The connection stands still meanwhile. */
const CONFIRM_LIMIT_MS = 300;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const limitMs = Math.ceil(Math.min(CONFIRM_LIMIT_MS, leaseMs / 5));
  const lost = new AbortController();
  let holdCount = 0;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    while ((await tryOnce()) === 0) await sleep(retryDelayMs, undefined, { signal });
    await confirm().catch(async (error) => {
      // A failover would forget this lock. The cause says that it could not be given back: then it is when Redis answers.
      await giveBack().catch((cause) => Promise.reject(new NotReplicatedError(key, { cause })));
      throw error;
    });
    holdCount += 1;
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  function tryOnce() {
    askedAt = performance.now();
    return acquireReentrant(redis, [key], [ownerToken, leaseMs]);
  }

  async function confirm() {
    // On the connection that has written: on another one the answer says nothing of it.
    if ((await redis.wait(REPLICAS, limitMs)) < REPLICAS) throw new NotReplicatedError(key);
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);
  const giveBack = () => releaseReentrant(redis, [key], [ownerToken, leaseMs]);

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) watchdog?.stop();
    if ((await giveBack()) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release, confirm, lost: lost.signal };
};
