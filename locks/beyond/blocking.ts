// Beyond · blocking
// Problem: waiters poll: they ask again and again while nothing has changed, and sleep on when the lock is free.
// Change:  a release is published; waiters sleep until they hear of it, and one of each process tries.
// Leaves:  the waiter that waits longest on one node may be overtaken by the other node, again and again.
// Source:  Redisson, RLock.

import { throwIfAborted } from '../drivers/abortable.ts';
import { waitInLocalQueue } from '../drivers/local-queue.ts';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type Lock, LockNotHeldError, type LockOptions } from '../lock.ts';

const acquireOrReturnLease = readScript('acquire-or-return-lease');
const renewIfOwner = readScript('renew-if-owner');
const releaseAndPublish = readScript('release-and-publish');

/** Who holds in this process, as `key ownerToken`: another lock object of the same request need not wait. */
const holders = new Set<string>();

export interface BlockingLock extends Lock {
  /**
   * Resolves with true when this holder got the lock within `waitMs`, else with false. A lease of its own lasts
   * `ownLeaseMs` and is not renewed; without one, or when the holder has a lease that is, the watchdog renews it.
   */
  tryLock(waitMs: number, ownLeaseMs?: number): Promise<boolean>;
}

export function createLock(options: LockOptions): BlockingLock {
  const { redis, key, ownerToken, leaseMs, renewEveryMs, fixedLeaseMs, onLeaseLost } = options;
  const channel = `${key}:released`;
  const holder = `${key} ${ownerToken}`;
  const lost = new AbortController();
  let holdCount = 0;
  let heldLeaseMs = leaseMs;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  const acquire = (signal?: AbortSignal) => takeFor(fixedLeaseMs, signal);

  async function tryLock(waitMs: number, ownLeaseMs = fixedLeaseMs) {
    const signal = waitMs > 0 ? AbortSignal.timeout(waitMs) : AbortSignal.abort();
    try {
      await takeFor(ownLeaseMs, signal);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'AbortError') return false;
      throw error;
    }
  }

  async function takeFor(ownLeaseMs: number | undefined, signal?: AbortSignal) {
    if (ownLeaseMs !== undefined && !watchdog) return take(ownLeaseMs, signal);
    await take(leaseMs, signal);
    watchdog ??= startWatchdog({ leaseMs, renewEveryMs, askedAt, renew, lose });
  }

  async function take(leaseMs: number, signal?: AbortSignal) {
    const tryOnce = () => {
      askedAt = performance.now();
      return acquireOrReturnLease(redis, [key], [ownerToken, leaseMs]);
    };
    // Neither a holder nor a single try joins the local queue.
    const isOurs = (holders.has(holder) || signal?.aborted) && (await tryOnce()) > 0;
    if (!isOurs) {
      throwIfAborted(signal);
      await waitInLocalQueue({ redis, channel, leaseMs, tryOnce, signal });
    }
    holders.add(holder);
    holdCount += 1;
    heldLeaseMs = leaseMs;
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);

  function lose() {
    holders.delete(holder);
    holdCount = 0;
    watchdog = undefined;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) stopWatchdog();
    const held = await releaseAndPublish(redis, [key], [ownerToken, heldLeaseMs, channel]);
    if (held <= 0) holders.delete(holder);
    if (held === -1) throw new LockNotHeldError(key);
  }

  function stopWatchdog() {
    watchdog?.stop();
    watchdog = undefined;
  }

  return { acquire, tryLock, release, lost: lost.signal };
}
