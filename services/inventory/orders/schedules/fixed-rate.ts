// Schedule · fixed-rate
// Problem: a run that takes longer than the interval is still in progress when the next one starts.
// Change:  runs are due at a fixed rate, and each starts only when the last one has ended.
// Leaves:  runs that were due during a slow run pile up, and all follow at once.

import type { ScheduledTick } from '../contract.ts';

/** What a schedule calls when a run is due. It must not reject. */
export type Tick = (its: ScheduledTick) => Promise<void>;

/** Calls `tick` at a fixed rate, in milliseconds, one call after the other, for the first time after one interval. */
export const atFixedRate = (everyMs: number, tick: Tick) => oneAfterTheOther(everyMs, (dueAt) => dueAt + everyMs, tick);

/** Calls `tick` after a delay in milliseconds. Once it has ended, `nextDue` computes the next due time from the last one. */
export function oneAfterTheOther(firstMs: number, nextDue: (dueAt: number) => number, tick: Tick) {
  // Not the clock of the day: that may be set back.
  const onTheClock = (at: number) => Math.round(Date.now() + at - performance.now());
  let isStopped = false;
  let timer: NodeJS.Timeout;
  wait(performance.now() + firstMs);

  function wait(dueAt: number) {
    timer = setTimeout(run, Math.max(0, dueAt - performance.now()), dueAt);
  }

  async function run(dueAt: number) {
    await tick({ dueAt: onTheClock(dueAt), beganAt: Date.now() });
    if (!isStopped) wait(nextDue(dueAt));
  }

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
