/** A lease that is renewed as long as its lock is held. */
interface Renewal {
  leaseMs: number;
  renewEveryMs: number;
  /** When the lease was requested, by `performance.now()`: it may have started as early as that. */
  askedAt: number;
  /** Restarts the lease. Resolves with 0 if the lock is no longer ours, else with 1. */
  renew: () => Promise<number>;
  /** Called once, when the lock is lost. */
  lose: () => void;
}

export type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * Renews a lease periodically. The lock is lost when a renewal says so, or when no renewal gets a reply and the lease has
 * expired by our own clock.
 */
export function startWatchdog({ leaseMs, renewEveryMs, askedAt, renew, lose }: Renewal) {
  const ticks = setInterval(renewNow, renewEveryMs);
  let leaseEnd = askedAt + leaseMs;
  let expiry: NodeJS.Timeout | undefined;
  let isOver = false;
  // Granted late: the first tick would come just before the lease expires.
  if (performance.now() - askedAt > renewEveryMs) Promise.resolve().then(renewNow);

  async function renewNow() {
    const askedAt = performance.now();
    expiry ??= setTimeout(end, leaseEnd - askedAt);
    // No reply says nothing about the lease: it may still be ours, so the next tick tries again.
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
