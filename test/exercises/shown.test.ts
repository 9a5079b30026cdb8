import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openProgress } from '../../exercises/workshop/progress.ts';
import { readState, removeState, writeState } from '../../exercises/workshop/state.ts';
import { shownSteps } from '../../exercises/workshop/steps.ts';
import type { Cell } from '../../prove/cell.ts';
import type { Step } from '../../prove/state.ts';
import { failingWorkshop } from '../live/failing-workshop.ts';

function tempFile(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-workshop-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return join(dir, name);
}

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

describe('workshop: progress', () => {
  test('it is there when the file is read again', () => {
    const file = tempFile('.workshop.json');
    const progress = openProgress(file);
    expect(progress.of('04-ttl')).toEqual({ isAnswered: false, hints: 0, isSolved: false });
    progress.goTo('04-ttl');
    progress.change('04-ttl', { chosen: 2 });
    progress.change('04-ttl', { isSolved: true });

    const again = openProgress(file);
    expect([again.at(), again.problem]).toEqual(['04-ttl', undefined]);
    expect(again.of('04-ttl')).toEqual({ chosen: 2, isAnswered: false, hints: 0, isSolved: true });
  });

  test('what another process forgets is forgotten here, and is not written back', () => {
    const file = tempFile('.workshop.json');
    const progress = openProgress(file);
    const solved = ['04-ttl', '05-owner-check'];
    for (const name of solved) progress.change(name, { isSolved: true });

    openProgress(file).forget('04-ttl');
    progress.goTo('04-ttl');

    expect(progress.of('04-ttl').isSolved).toBe(false);
    expect(solved.map((name) => openProgress(file).of(name).isSolved)).toEqual([false, true]);
  });

  test.each([
    ['half a file', '{ "format": 1, "exer'],
    ['another format', '{ "format": 2, "exercises": {} }'],
    ['an answer that does not exist', '{ "format": 1, "exercises": { "04-ttl": { "chosen": 7 } } }'],
  ])('%s: it is kept under another name, that is said, and all begins anew', (_what, text) => {
    const file = tempFile('.workshop.json');
    for (const name of ['.workshop.broken.json', '.workshop.broken-2.json']) {
      writeFileSync(file, text);
      const progress = openProgress(file);
      progress.goTo('01-in-process');

      expect(progress.problem).toContain(name);
      expect(readFileSync(join(file, '..', name), 'utf8')).toBe(text);
      expect(openProgress(file).at()).toBe('01-in-process');
    }
  });
});

test('workshop: the state for others is read as it was written, and is gone at the end; that of another one stays', () => {
  const file = tempFile('reports/workshop.json');
  writeState(failingWorkshop, file);
  expect(readState(file)).toEqual(failingWorkshop);
  removeState(file);
  expect(existsSync(file)).toBe(false);

  writeState({ ...failingWorkshop, pid: process.pid + 1 }, file);
  removeState(file);
  expect(readState(file)?.pid).toBe(process.pid + 1);
});
