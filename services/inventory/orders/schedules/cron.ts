// Schedule · cron
// Problem: a job must run again and again, and nobody is there to start it.
// Change:  it starts at the times that an expression names, on each node by the clock of that node.
// Leaves:  a tick that takes longer than the time to the next one is still under way when that begins.

import { Cron } from 'croner';
import type { Tick } from './fixed-rate.ts';

/** Every node reads the expression in UTC, so that the same tick comes on each at the same moment. */
const options = { mode: '6-part', sloppyRanges: true, timezone: 'UTC' } as const;

export const cronForm = 'six fields (second minute hour day month weekday), such as 0/10 * * * * ?';

/** What is wrong with a cron expression, as part of a sentence. Undefined when there is nothing. */
export function whyNoCron(expression: string): string | undefined {
  try {
    return new Cron(expression, options).nextRun() === null ? 'this time never comes' : undefined;
  } catch (error) {
    // croner counts days and months from 0, and knows forms of five and seven fields, too.
    return (error as Error).message.replace(/^CronPattern: |: \d+$|, exactly five, .*|\.$/g, '');
  }
}

/** Calls `tick` at the times of the expression, whether or not the last call has ended. */
export function atTimesOf(expression: string, tick: Tick) {
  const cron: Cron = new Cron(expression, options, () => {
    // When it was due, not when its turn has come: a tick that is late must show.
    const its = { dueAt, beganAt: Date.now() };
    dueAt = nextAt();
    return tick(its);
  });
  const nextAt = () => cron.nextRun()?.getTime() ?? 0;
  let dueAt = nextAt();
  return cron;
}
