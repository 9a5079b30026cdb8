// Schedule · fixed-rate
// Problem: a tick that takes longer than the time to the next one is still under way when that begins.
// Change:  a tick is due so long after the last one was due, and begins when the last one has ended.
// Leaves:  the ticks that were due while a slow one was under way have piled up, and all follow at once.

import type { ScheduledTick } from '../contract.ts';

/** What a schedule calls when it is due. It must not reject. */
export type Tick = (its: ScheduledTick) => Promise<void>;

/** Calls `tick` every so many milliseconds, one call after the other, for the first time when they have passed once. */
export const atFixedRate = (everyMs: number, tick: Tick) => oneAfterTheOther(everyMs, (dueAt) => dueAt + everyMs, tick);

/** Calls `tick` after so many milliseconds. When it has ended, `nextDue` says from when it was due when the next one is. */
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
