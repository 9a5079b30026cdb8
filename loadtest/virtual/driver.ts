// The harness as an actor of the virtual world: its clock is the lab's, and its timers fire there.

import type { Lab } from '../../virtual/lab.ts';
import { EPOCH_MS } from '../../virtual/valkey.ts';
import { createWorld } from '../../virtual/world.ts';
import type { Clock, Timer } from '../harness/clock.ts';

/** Joins the harness to a lab. */
export function joinLab({ schedule }: Lab): Clock {
  const world = createWorld('harness', 0, { firesUnref: true });
  const { setTimeout, clearTimeout } = world.globals as {
    setTimeout: (fire: () => void, ms: number) => Timer;
    clearTimeout: (timer: Timer) => void;
  };
  /** Timers count from the present of the lab. */
  const atPresent = <T>(act: () => T): T => {
    world.begin({ type: 'begins', at: schedule.now(), chance: 0 });
    return act();
  };
  schedule.join({
    nextTimerAt: () => world.nextTimer()?.due ?? Number.POSITIVE_INFINITY,
    fireTimer() {
      const timer = world.nextTimer();
      if (timer) atPresent(() => world.fire(timer.id));
    },
    flush() {},
  });

  return {
    now: schedule.now,
    wallTime: () => EPOCH_MS + Math.round(schedule.now()),
    sleep: (ms, value, options) => atPresent(() => world.sleep(ms, value, options) as Promise<never>),
    startTimer: (fire, ms) => atPresent(() => setTimeout(fire, ms)),
    stopTimer: clearTimeout,
  };
}
