// What locks share whose waiters ask again and again, and whose lease is renewed for as long as it is held.

import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError, type LockOptions } from '../lock.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

/** What such a lock asks of Redis. */
export interface Steps {
  /** One try. Resolves with true when the lock is ours, once more if it was ours before. */
  tryOnce(): Promise<boolean>;
  /** Starts the lease anew. Resolves with 0 when the lock is no longer ours, else with 1. */
  renew(): Promise<number>;
  /** Gives up one hold. Resolves with -1 when the lock was no longer ours. */
  giveBack(): Promise<number>;
}

/** Makes the lock that takes these steps. */
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
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) watchdog?.stop();
    if ((await giveBack()) === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
}
