// Shared by the locks that poll for the lock and renew its lease as long as it is held.

import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError, type LockOptions } from '../lock.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

/** What such a lock asks Redis. */
export interface Steps {
  /** A single try. Resolves with true if the lock is ours, also if it was ours before. */
  tryOnce(): Promise<boolean>;
  /** Restarts the lease. Resolves with 0 if the lock is no longer ours, else with 1. */
  renew(): Promise<number>;
  /** Releases one hold. Resolves with -1 if the lock was no longer ours. */
  giveBack(): Promise<number>;
}

/** Creates a lock from these steps. */
export function renewed(options: LockOptions, { tryOnce, renew, giveBack }: Steps) {
  const { key, leaseMs, renewEveryMs, retryDelayMs, onLeaseLost } = options;
  const lost = new AbortController();
  let holdCount = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    let askedAt = performance.now();
    while (!(await tryOnce())) {
      await sleep(retryDelayMs, undefined, { signal });
      askedAt = performance.now();
    }
    holdCount += 1;
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, renewEveryMs, askedAt, renew, lose });
  }

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Stop before asking Redis: if Redis does not reply, the lease must expire by itself.
    if (holdCount === 0) watchdog?.stop();
    if ((await giveBack()) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
}
