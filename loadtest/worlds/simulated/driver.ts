// The harness as an actor of the simulation: it uses the simulated clock, and its timers fire there.

import type { Lab } from '../../../simulation/lab.ts';
import { EPOCH_MS } from '../../../simulation/valkey.ts';
import { createWorld } from '../../../simulation/world.ts';
import type { Clock, Timer } from '../../harness/clock.ts';

export type Harness = ReturnType<typeof joinLab>;

/** Joins the harness to a lab. */
export function joinLab({ schedule, tell }: Lab) {
  const world = createWorld('harness', 0);
  const { setTimeout, clearTimeout } = world.globals as {
    setTimeout: (fire: () => void, ms: number) => Timer;
    clearTimeout: (timer: Timer) => void;
  };
  /** Until then it gets no core. */
  let stillUntil = 0;
  /** Timers count from the present of the lab. */
  const atPresent = <T>(act: () => T): T => {
    world.begin({ type: 'begins', at: schedule.now(), chance: 0 });
    return act();
  };
  schedule.join({
    nextTimerAt() {
      const timer = world.nextTimer();
      return timer ? Math.max(stillUntil, timer.due) : Number.POSITIVE_INFINITY;
    },
    fireTimer() {
      const timer = world.nextTimer();
      if (timer) atPresent(() => world.fire(timer.id));
    },
    flush() {},
  });

  /** Something comes to the harness: it happens when that gets a core. */
  function take(what: () => void) {
    if (stillUntil > schedule.now()) schedule.after(stillUntil - schedule.now(), () => take(what));
    else what();
  }

  const clock: Clock = {
    now: schedule.now,
    wallTime: () => EPOCH_MS + Math.round(schedule.now()),
    sleep: (ms, value, options) => atPresent(() => world.sleep(ms, value, options) as Promise<never>),
    startTimer: (fire, ms) => atPresent(() => setTimeout(fire, ms)),
    stopTimer: clearTimeout,
  };

  return {
    clock,
    take,
    /** Something comes to the harness so many milliseconds later. */
    after: (ms: number, what: () => void) => schedule.after(ms, () => take(what)),
    /** It gets no core for so long, in milliseconds: what comes to it waits, and its timers are late. */
    standStill(ms: number) {
      tell({ kind: 'harness', ms });
      stillUntil = Math.max(stillUntil, schedule.later(ms));
    },
  };
}
