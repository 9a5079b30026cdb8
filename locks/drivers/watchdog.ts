import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError, type LockOptions } from '../lock.ts';

interface Renewal {
  leaseMs: number;
  /** When the lease was asked for, by `performance.now()`: it may have begun as early as that. */
  askedAt: number;
  /** Starts the lease anew. Resolves with 0 when the lock is no longer ours, else with 1. */
  renew: () => Promise<number>;
  /** Called once, when the lock is no longer ours. */
  lose: () => void;
}

export type Watchdog = ReturnType<typeof startWatchdog>;

/** Renews a lease each third of it. It is lost when a renewal says so, or none is answered and the lease is over by our clock. */
export function startWatchdog({ leaseMs, askedAt, renew, lose }: Renewal) {
  const tickMs = leaseMs / 3;
  const ticks = setInterval(renewNow, tickMs);
  let leaseEnd = askedAt + leaseMs;
  let expiry: NodeJS.Timeout | undefined;
  let isOver = false;
  // Granted late: the first tick would come when the lease is nearly over.
  if (performance.now() - askedAt > tickMs) Promise.resolve().then(renewNow);

  async function renewNow() {
    const askedAt = performance.now();
    expiry ??= setTimeout(end, leaseEnd - askedAt);
    // No answer is no news: the lease may still be ours, so the next tick asks again.
    const renewed = await renew().catch(() => undefined);
    if (renewed === undefined || isOver) return;
    if (renewed === 0) return end();
    leaseEnd = askedAt + leaseMs;
    clearTimeout(expiry);
    expiry = undefined;
  }

  function end() {
    stop();
    lose();
  }

  function stop() {
    isOver = true;
    clearInterval(ticks);
    clearTimeout(expiry);
  }

  return { renewNow, stop };
}

/** What a lock asks of Redis whose waiters ask again and again, and whose lease is renewed for as long as it is held. */
export interface Steps {
  /** One try. Resolves with true when the lock is ours, once more if it was ours before. */
  tryOnce(): Promise<boolean>;
  /** Starts the lease anew. Resolves with 0 when the lock is no longer ours, else with 1. */
  renew(): Promise<number>;
  /** Gives up one hold. Resolves with -1 when the lock was no longer ours. */
  giveBack(): Promise<number>;
}

export function renewed({ key, leaseMs, retryDelayMs, onLeaseLost }: LockOptions, { tryOnce, renew, giveBack }: Steps) {
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
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
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
