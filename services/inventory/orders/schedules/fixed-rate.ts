// Schedule · fixed rate
// Problem: a tick that takes longer than the time to the next one is still under way when that begins.
// Change:  a tick is due so long after the last one was due, and begins when the last one has ended.
// Leaves:  the ticks that were due while a slow one was under way have piled up, and all follow at once.

import type { ScheduledTick } from '../../lab/contract.ts';

/** Calls `tick` every so many milliseconds, one call after the other, for the first time when they have passed once. It must not reject. */
export function atFixedRate(everyMs: number, tick: (its: ScheduledTick) => Promise<void>) {
  // Not the clock of the day: that may be set back.
  let dueAt = performance.now() + everyMs;
  let isStopped = false;
  let timer = setTimeout(run, everyMs);

  async function run() {
    const its = { dueAt: onTheClock(), beganAt: Date.now() };
    dueAt += everyMs;
    await tick(its);
    if (!isStopped) timer = setTimeout(run, Math.max(0, dueAt - performance.now()));
  }

  const onTheClock = () => Math.round(Date.now() + dueAt - performance.now());

  return {
    next: () => (isStopped ? null : new Date(onTheClock()).toISOString()),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
