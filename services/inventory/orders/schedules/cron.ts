// Schedule · cron
// Problem: each tick moves all that come after it, so nobody can say at what time of the day one comes.
// Change:  the times of an expression again, but a tick that is due while the last one is under way is skipped.
// Leaves:  nobody makes up for a tick that was skipped: of a job that runs once a night, a whole night is missing.

import { Cron } from 'croner';
import { cronOptions } from '../../settings/setting-kinds.ts';
import type { Tick } from './fixed-rate.ts';

/** Calls `tick` at the times of the expression at which the last call has ended. */
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
