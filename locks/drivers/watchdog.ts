/** A lease that is renewed for as long as its lock is held. */
interface Renewal {
  leaseMs: number;
  renewEveryMs: number;
  /** When the lease was asked for, by `performance.now()`: it may have begun as early as that. */
  askedAt: number;
  /** Starts the lease anew. Resolves with 0 when the lock is no longer ours, else with 1. */
  renew: () => Promise<number>;
  /** Called once, when the lock is no longer ours. */
  lose: () => void;
}

export type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * Renews a lease again and again. The lock is lost when a renewal says so, or when none is answered and the lease is over
 * by our own clock.
 */
export function startWatchdog({ leaseMs, renewEveryMs, askedAt, renew, lose }: Renewal) {
  const ticks = setInterval(renewNow, renewEveryMs);
  let leaseEnd = askedAt + leaseMs;
  let expiry: NodeJS.Timeout | undefined;
  let isOver = false;
  // Granted late: the first tick would come when the lease is nearly over.
  if (performance.now() - askedAt > renewEveryMs) Promise.resolve().then(renewNow);

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
