import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readExercises } from '../../exercises/workshop/exercise.ts';
import { foldCode, hang, inColumns, markdownLines, wrap } from '../../exercises/workshop/layout.ts';
import { openProgress } from '../../exercises/workshop/progress.ts';
import { readState, removeState, type WorkshopState, writeState } from '../../exercises/workshop/state.ts';
import { reasonOf, shownSteps } from '../../exercises/workshop/steps.ts';
import { verdictLines } from '../../exercises/workshop/verdict-lines.ts';
import type { Cell } from '../../prove/cell.ts';
import type { Step } from '../../prove/state.ts';

const plain = pc.createColors(false);

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-workshop-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

describe('workshop: text on a terminal', () => {
  test('words stay whole, and each line but the first has the indent', () => {
    expect(wrap('one two three averyverylongword four', 10, '  ')).toEqual([
      'one two',
      '  three',
      '  averyverylongword',
      '  four',
    ]);
    expect(wrap('  ', 10)).toEqual([]);
  });

  test('colours take no room', () => {
    const { red } = pc.createColors(true);
    expect(wrap(`${red('one')} ${red('two')}`, 7)).toHaveLength(1);
  });

  test('what has no room in the first line stands below the beginning of the text', () => {
    const { red } = pc.createColors(true);
    expect(hang('  a  ', 'one  two', 20)).toEqual(['  a  one  two']);
    expect(hang(`  ${red('a')}  `, 'one two', 10)).toEqual([`  ${red('a')}  one`, '     two']);
  });

  test('columns are read from top to bottom, as many as there is room for', () => {
    expect(inColumns(['1 one', '2 two', '3 three'], 14)).toEqual(['1 one  3 three', '2 two']);
    expect(inColumns(['1 one', '2 two'], 5)).toEqual(['1 one', '2 two']);
    expect(inColumns(['1 one', '2 two'], 3)).toEqual(['1 one', '2 two']);
  });

  test('code that is longer than a line goes on further in, and keeps the sign of a diff', () => {
    expect(foldCode('const one = 1;', 20)).toEqual(['const one = 1;']);
    expect(foldCode('  if (one) throw new LostError(two);', 24)).toEqual([
      '  if (one) throw new',
      '      LostError(two);',
    ]);
    expect(foldCode('+  if (one) throw new LostError(two);', 24)).toEqual([
      '+  if (one) throw new',
      '+      LostError(two);',
    ]);
    expect(foldCode('+// one two', 8)).toEqual(['+// one', '+    two']);
    expect(foldCode('averyverylongword', 8)).toEqual(['averyverylongword']);
    expect(foldCode('    averyverylongword two', 8)).toEqual(['    averyverylongword two']);
  });

  test('Markdown: paragraphs, a list, code, and a link by its text', () => {
    const text = 'A `key` of\n[Redis](there.md).\n\n- one\n- **two** and\n  more\n\n```ts\nawait it;\n```';

    expect(markdownLines(text, 40, plain)).toEqual([
      'A key of Redis.',
      '',
      '- one',
      '- two and more',
      '',
      '    await it;',
    ]);
  });
});

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
    const steps = [
      step(0, 'A', 'command', 'SET lock', { reply: 'null' }),
      step(300, 'the clock', 'clock', 'goes on to 300 ms'),
      step(300, 'A', 'timer', 'has a timer fire'),
      step(300, 'A', 'command', 'SET lock', { reply: 'null' }),
      step(600, 'the clock', 'clock', 'goes on to 600 ms'),
      step(600, 'A', 'timer', 'has a timer fire'),
      step(600, 'A', 'command', 'SET lock', { reply: 'null' }),
      step(600, 'A', 'command', 'SET lock', { reply: '"OK"', told: told('entered') }),
    ];

    expect(shownSteps(cellOf(steps))).toEqual([
      { at: 0, process: 'A', what: 'SET lock → null', again: { times: 2, until: 600 } },
      { at: 600, process: 'A', what: 'SET lock → "OK"', came: 'is inside' },
    ]);
  });

  test('what comes of a step is never folded away, nor a timer that sets off nothing', () => {
    const enters = { told: told('entered') };
    const steps = [
      step(0, 'A', 'command', 'GET', enters),
      step(0, 'A', 'command', 'GET', enters),
      step(5, 'A', 'timer', 'has a timer fire'),
      step(5, 'B', 'begins', 'begins a sale'),
    ];

    expect(shownSteps(cellOf(steps)).map(({ what, again }) => [what, again])).toEqual([
      ['GET', undefined],
      ['GET', undefined],
      ['has a timer fire', undefined],
      ['begins a sale', undefined],
    ]);
  });

  test('where a process makes several sales, each is told by its number', () => {
    const steps = [step(0, 'A', 'begins', 'begins a sale', { told: [...told('entered'), ...told('left', 2)] })];
    expect(shownSteps(cellOf(steps))).toMatchObject([
      { what: 'begins a sale', came: 'is inside (sale 1), leaves (sale 2)' },
    ]);
  });

  test('several sales at once: they begin together, and what is alike of them is told once', () => {
    const entered = [...told('entered'), ...told('entered', 2), ...told('entered', 3), ...told('left', 2)];
    const steps = [step(0, 'A', 'begins', 'begins a sale', { told: entered })];
    expect(shownSteps({ ...cellOf(steps), sales: 3, isAtOnce: true })).toMatchObject([
      { what: 'begins 3 sales at once', came: 'is inside (sales 1, 2 and 3), leaves (sale 2)' },
    ]);
    const alone = [step(0, 'A', 'begins', 'begins a sale', { told: [...told('entered', 2), ...told('left', 2)] })];
    expect(shownSteps({ ...cellOf(alone), sales: 3, isAtOnce: true })).toMatchObject([
      { what: 'begins 3 sales at once', came: 'is inside, leaves (sale 2)' },
    ]);
  });

  test('of several sales at once, those that wait for ever are named', () => {
    const steps = [
      step(0, 'A', 'begins', 'begins a sale', { told: told('entered') }),
      step(0, 'A', 'command', 'GET', { told: told('released') }),
      step(0, 'A', 'command', 'GET', { told: told('failed', 3) }),
    ];
    const cell = { ...cellOf(steps), reason: 'A waits for ever.' };
    expect(reasonOf(cell)).toBe('A waits for ever.');
    expect(reasonOf({ ...cell, sales: 3, isAtOnce: true })).toBe('A waits for ever: sale 2 never ends.');
    expect(reasonOf({ ...cell, sales: 4, isAtOnce: true })).toBe('A waits for ever: sales 2 and 4 never end.');
    expect(reasonOf({ ...cell, sales: 3, isAtOnce: true, reason: 'A fails.' })).toBe('A fails.');
  });
});

test('workshop: a verdict names each size that the search has looked at, and how many orders', () => {
  const [exercise] = readExercises().filter(({ number }) => number === 4);
  const cell = (scope: string, processes: number) =>
    ({ scope, processes, sales: 1, verdict: 'holds', says: 'So it is.', schedules: 1 }) as Cell;
  const told = (...cells: Cell[]) => {
    if (exercise === undefined) throw new Error('There is no exercise 04.');
    const lines = verdictLines(exercise, { kind: 'holds', sentence: '', cells }, { paint: plain, width: 200 });
    return lines.at(-1);
  };

  const holds = 'Solved. It holds in every order of events of';
  expect(told(cell('crashed-holder', 2))).toBe(
    `${holds} this scope, with 2 processes × 1 sale: the search has looked at 1 order.`,
  );
  expect(told(cell('crashed-holder', 2), cell('zombie-renewal', 3))).toBe(
    `${holds} these 2 scopes, with 2 processes × 1 sale and with 3 processes × 1 sale: the search has looked at 2 orders.`,
  );
  expect(told(cell('plain', 1))).toBe(
    `${holds} this scope, with 1 process × 1 sale: the search has looked at 1 order, because one process runs its sales in one order only.`,
  );
});

describe('workshop: progress', () => {
  test('it is there when the file is read again', () => {
    const file = join(tempDir(), '.workshop.json');
    const progress = openProgress(file);
    expect(progress.of('04-ttl')).toEqual({ isAnswered: false, hints: 0, isSolved: false });

    progress.goTo('04-ttl');
    progress.change('04-ttl', { chosen: 2 });
    progress.change('04-ttl', { isSolved: true });

    const again = openProgress(file);
    expect([again.at(), again.of('04-ttl'), again.problem]).toEqual([
      '04-ttl',
      { chosen: 2, isAnswered: false, hints: 0, isSolved: true },
      undefined,
    ]);
    again.forget('04-ttl');
    expect(openProgress(file).of('04-ttl').isSolved).toBe(false);
  });

  test('what another process forgets is forgotten here, and is not written back', () => {
    const file = join(tempDir(), '.workshop.json');
    const progress = openProgress(file);
    progress.change('04-ttl', { isSolved: true });
    progress.change('05-owner-check', { isSolved: true });

    openProgress(file).forget('04-ttl');
    progress.goTo('04-ttl');

    expect(progress.of('04-ttl').isSolved).toBe(false);
    const again = openProgress(file);
    expect([again.at(), again.of('04-ttl').isSolved, again.of('05-owner-check').isSolved]).toEqual([
      '04-ttl',
      false,
      true,
    ]);
  });

  test.each([
    ['half a file', '{ "format": 1, "exer'],
    ['another format', '{ "format": 2, "exercises": {} }'],
    ['an answer that does not exist', '{ "format": 1, "exercises": { "04-ttl": { "chosen": 7 } } }'],
    ['nothing', ''],
  ])('%s: it is kept under another name, that is said, and all begins anew', (_what, text) => {
    const folder = tempDir();
    const file = join(folder, '.workshop.json');
    for (const name of ['.workshop.broken.json', '.workshop.broken-2.json']) {
      writeFileSync(file, text);

      const progress = openProgress(file);
      progress.goTo('01-in-process');

      expect(progress.problem).toContain(name);
      expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
      expect(openProgress(file).at()).toBe('01-in-process');
    }
  });
});

describe('workshop: the state for others', () => {
  const state: WorkshopState = {
    format: 1,
    pid: process.pid,
    updatedAt: new Date().toISOString(),
    exercise: { name: '04-ttl', number: 4, title: 'A title', track: 'build', file: 'exercises/04-ttl/lock.ts' },
    count: 8,
    solved: 0,
    prediction: { question: 'Why?', answers: ['a', 'b', 'c', 'd'] },
    phase: 'open',
    isSolved: false,
  };

  test('it is read as it was written, and is gone at the end', () => {
    const file = join(tempDir(), 'reports/workshop.json');
    writeState(state, file);
    expect(readState(file)).toEqual(state);

    removeState(file);
    expect(existsSync(file)).toBe(false);
    expect(readState(file)).toBeUndefined();
  });

  test('the state of another workshop stays, and a half is no state', () => {
    const file = join(tempDir(), 'workshop.json');
    writeState({ ...state, pid: process.pid + 1 }, file);
    removeState(file);
    expect(readState(file)?.pid).toBe(process.pid + 1);

    writeFileSync(file, '{ "format": 1');
    expect(readState(file)).toBeUndefined();
  });
});
