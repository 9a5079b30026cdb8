// Beyond · blocking
// Problem: waiters poll: they ask Redis again and again while the lock is held, and may be asleep when it becomes free.
// Change:  release publishes a message; waiters sleep until it arrives, then one waiter per process tries.
// Leaves:  the longest-waiting request of one node can be overtaken by the other node again and again.
// Source:  Redisson, RLock.

import { throwIfAborted } from '../drivers/abortable.ts';
import { waitInLocalQueue } from '../drivers/local-queue.ts';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type Lock, LockNotHeldError, type LockOptions } from '../lock.ts';

const acquireOrReturnLease = readScript('acquire-or-return-lease');
const renewIfOwner = readScript('renew-if-owner');
const releaseAndPublish = readScript('release-and-publish');

/** The holders in this process, as `key ownerToken`: another lock object of the same request does not have to wait. */
const holders = new Set<string>();

export interface BlockingLock extends Lock {
  /**
   * Resolves with true if this holder got the lock within `waitMs`, else with false. With `ownLeaseMs` the lease lasts that
   * long and is not renewed. Without it, or when the holder already has a renewed lease, the watchdog renews it.
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
    // A holder does not join the local queue, and a single try does not either.
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
    // Stop before asking Redis: if Redis does not reply, the lease must expire by itself.
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
