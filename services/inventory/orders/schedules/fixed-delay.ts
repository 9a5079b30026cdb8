// Schedule · fixed delay
// Problem: the ticks that were due while a slow one was under way have piled up, and all follow at once.
// Change:  a tick begins so long after the last one has ended.
// Leaves:  each tick moves all that come after it, so nobody can say at what time of the day one comes.

import type { ScheduledTick } from '../../lab/contract.ts';

/** Calls `tick` so many milliseconds after its last call has ended, and after now. It must not reject. */
export function withFixedDelay(delayMs: number, tick: (its: ScheduledTick) => Promise<void>) {
  let dueAt: number | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout;
  wait();

  function wait() {
    dueAt = Date.now() + delayMs;
    timer = setTimeout(run, delayMs, dueAt);
  }

  async function run(was: number) {
    dueAt = undefined;
    await tick({ dueAt: was, beganAt: Date.now() });
    if (!isStopped) wait();
  }

  return {
    next: () => (dueAt === undefined || isStopped ? null : new Date(dueAt).toISOString()),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
