// What happens in a staging, by its clock, and how the calls end that are made in it.

import type { Schedule } from '../../simulation/schedule.ts';
import { formatSeconds } from '../narration/numbers.ts';
import { type End, saidOf } from './outcome.ts';

/** How long a step may take that has nothing to wait for, in milliseconds. */
export const STEP_LIMIT_MS = 3_000;

export type Story = ReturnType<typeof createStory>;

export function createStory(schedule: Schedule) {
  const steps: string[] = [];

  const say = (sentence: string) => void steps.push(`${formatSeconds(schedule.now())} ${sentence}`);

  /** How a call ends within so many milliseconds. */
  function endOf(call: Promise<unknown>, limitMs: number): Promise<End> {
    const startedAt = schedule.now();
    const ms = () => schedule.now() - startedAt;
    return new Promise((resolve) => {
      call.then(
        () => resolve({ how: 'done', ms: ms() }),
        (error) => resolve({ how: 'rejected', ms: ms(), error }),
      );
      schedule.after(limitMs, () => resolve({ how: 'pending' }));
    });
  }

  return {
    /** What happened, with the time since it began: the evidence of what comes of it. */
    steps,
    say,
    now: schedule.now,
    pass: (ms: number) => new Promise<void>((resolve) => schedule.after(ms, resolve)),
    endOf,
    /** How a call ends within so many milliseconds: said as what it is. */
    async ends(what: string, call: Promise<unknown>, limitMs = STEP_LIMIT_MS): Promise<End> {
      const end = await endOf(call, limitMs);
      say(`${what} ${saidOf(end)}`);
      return end;
    },
  };
}
