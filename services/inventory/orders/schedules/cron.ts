// Schedule · cron
// Problem: each run shifts all later runs, so nobody can say at what time of day a run starts.
// Change:  a cron expression again, but a run that is due while the last one is in progress is skipped.
// Leaves:  a skipped run is not made up for: a job that runs once a night misses a whole night.

import { Cron } from 'croner';
import { cronOptions } from '../../settings/setting-kinds.ts';
import type { Tick } from './fixed-rate.ts';

/** Calls `tick` at the times of the expression, unless the last call is still in progress. */
export function atTimesOf(expression: string, tick: Tick) {
  const skip = () => {
    dueAt = nextAt();
  };
  const cron: Cron = new Cron(expression, { ...cronOptions, protect: skip }, () => {
    const its = { dueAt, beganAt: Date.now() };
    dueAt = nextAt();
    return tick(its);
  });
  const nextAt = () => cron.nextRun()?.getTime() ?? 0;
  let dueAt = nextAt();
  return cron;
}
