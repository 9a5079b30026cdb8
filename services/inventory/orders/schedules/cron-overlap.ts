// Schedule · cron-overlap
// Problem: a job must run again and again, and nobody is there to start it.
// Change:  it starts at the times that an expression names, on each node by the clock of that node.
// Leaves:  a tick that takes longer than the time to the next one is still under way when that begins.

import { Cron } from 'croner';
import { cronOptions } from '../../settings/setting-kinds.ts';
import type { Tick } from './fixed-rate.ts';

/** Calls `tick` at the times of the expression, whether or not the last call has ended. */
export function atEachTimeOf(expression: string, tick: Tick) {
  const cron: Cron = new Cron(expression, cronOptions, () => {
    // When it was due, not when its turn has come: a tick that is late must show.
    const its = { dueAt, beganAt: Date.now() };
    dueAt = nextAt();
    return tick(its);
  });
  const nextAt = () => cron.nextRun()?.getTime() ?? 0;
  let dueAt = nextAt();
  return cron;
}
