// Schedule · cron-overlap
// Problem: a job must run periodically, without anybody to start it.
// Change:  it starts at the times of a cron expression, on each node by that node's clock.
// Leaves:  a run that takes longer than the interval is still in progress when the next one starts.

import { Cron } from 'croner';
import { cronOptions } from '../../settings/setting-kinds.ts';
import type { Tick } from './fixed-rate.ts';

/** Calls `tick` at the times of the expression, even if the last call has not ended. */
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
