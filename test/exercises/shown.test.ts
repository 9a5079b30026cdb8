import { describe, expect, test } from 'vitest';
import { shownSteps } from '../../exercises/workshop/steps.ts';
import type { Cell } from '../../prove/cell.ts';
import type { Step } from '../../prove/state.ts';

describe('workshop: a counterexample in steps', () => {
  const step = (at: number, process: string, kind: Step['kind'], command: string, more: Partial<Step> = {}): Step => ({
    at,
    process,
    kind,
    command,
    told: [],
    ...more,
  });
  const cellOf = (counterexample: Step[]) => ({ counterexample, sales: 1 }) as Cell;
  const told = (what: 'entered' | 'left' | 'released' | 'failed', sale = 1) => [{ at: 0, step: what, sale }];

  test('the clock and timers that set off the next step are left out, and what is repeated is counted', () => {
    const tries = [300, 600].flatMap((at) => [
      step(at, 'the clock', 'clock', `goes on to ${at} ms`),
      step(at, 'A', 'timer', 'has a timer fire'),
      step(at, 'A', 'command', 'SET lock', { reply: 'null' }),
    ]);
    const enters = step(600, 'A', 'command', 'SET lock', { reply: '"OK"', told: told('entered') });

    expect(shownSteps(cellOf([step(0, 'A', 'command', 'SET lock', { reply: 'null' }), ...tries, enters]))).toEqual([
      { at: 0, process: 'A', what: 'SET lock → null', again: { times: 2, until: 600 } },
      { at: 600, process: 'A', what: 'SET lock → "OK"', came: 'is inside' },
    ]);
  });
});
