import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import pc from 'picocolors';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { type Exercise, exercisesDir, readExercises } from '../../exercises/workshop/exercise.ts';
import { openOrderServers } from '../../exercises/workshop/order-servers.ts';
import { openProgress } from '../../exercises/workshop/progress.ts';
import type { RealJudge, RealVerdict } from '../../exercises/workshop/real-judge.ts';
import { reset } from '../../exercises/workshop/reset.ts';
import { openSearchJudge, type SearchJudge } from '../../exercises/workshop/search-judge.ts';
import { runSession } from '../../exercises/workshop/session.ts';
import { readState } from '../../exercises/workshop/state.ts';
import { projectDir } from '../../scripts/stack/parts.ts';

const search = openSearchJudge();
afterAll(() => search.close());
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const orderServers = openOrderServers();
/** What is not shown by then hangs, in milliseconds. */
const LIMIT_MS = 240_000;

/** Exercises of these numbers in a folder of their own. */
function copyExercises(numbers: number[]): { root: string; exercises: Exercise[] } {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-session-'));
  const folder = join(root, 'exercises');
  mkdirSync(folder);
  symlinkSync(join(projectDir, 'locks'), join(root, 'locks'));
  cpSync(join(exercisesDir, 'originals'), join(folder, 'originals'), { recursive: true });
  for (const { name, original, file } of readExercises().filter(({ number }) => numbers.includes(number))) {
    cpSync(join(exercisesDir, name), join(folder, name), { recursive: true });
    cpSync(original, join(folder, name, basename(file)));
  }
  return { root, exercises: readExercises(folder) };
}

/** A session on streams instead of a terminal. `drills` is what the real servers say, which are not the subject here. */
function begin({
  drills = [],
  numbers = [2, 3, 4],
  judge = search,
  first = 0,
  columns = 100,
  rows = 60,
  clock,
}: {
  drills?: RealVerdict['verdict'][];
  numbers?: number[];
  judge?: SearchJudge;
  first?: number;
  columns?: number;
  rows?: number;
  clock?: () => Date;
} = {}) {
  const { root, exercises } = copyExercises(numbers);
  const input = new PassThrough();
  let screen = '';
  let isAll = '';
  const output = {
    columns,
    rows,
    write(text: string) {
      isAll += text;
      screen = text.includes('\x1b[2J') ? text : screen + text;
    },
  };
  const ran: string[] = [];
  const servers: RealJudge = {
    async warmUp() {},
    async run({ settings }, { file, onDrill, narrate }) {
      ran.push(readFileSync(file, 'utf8'));
      onDrill(settings.drills[0] ?? '');
      narrate('node-1 is about to sell.', 120);
      await vi.waitFor(() => expect(drills.length).toBeGreaterThan(0), { timeout: LIMIT_MS });
      return [
        { drill: settings.drills[0] ?? '', verdict: drills.shift() ?? 'unknown', reason: 'So it was.', witnesses: [] },
      ];
    },
    whyNotLoaded: orderServers.whyNotLoaded,
    async close() {},
  };
  const progress = openProgress(join(root, '.workshop.json'));
  const state = join(root, 'reports/workshop.json');
  const stopping = new AbortController();
  const ended = runSession({
    exercises,
    first: exercises[first] as Exercise,
    progress,
    search: judge,
    serversOf: () => servers,
    input,
    output,
    paint: pc.createColors(false),
    state,
    ...(clock && { clock }),
    signal: stopping.signal,
  });
  ends.push(async () => {
    stopping.abort();
    await ended;
    rmSync(root, { recursive: true });
  });
  const shows = (text: string | RegExp) =>
    vi.waitFor(
      () =>
        // Where a line is wrapped depends on the length of the path.
        expect([screen, screen.replace(/\s+/g, ' ')].join('\n')).toMatch(
          typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text,
        ),
      {
        timeout: LIMIT_MS,
        interval: 20,
      },
    );
  return {
    exercises,
    progress,
    ended,
    input,
    ran,
    drills,
    shows,
    all: () => isAll,
    screen: () => screen,
    state: () => readState(state),
    /** What `npm run workshop -- reset` does in another terminal. */
    resetElsewhere: (exercise: number) =>
      reset(exercises[exercise] as Exercise, openProgress(join(root, '.workshop.json'))),
    press: (keys: string) => void input.write(keys),
    save: (exercise: number, text: string) => writeFileSync((exercises[exercise] as Exercise).file, text),
    textOf: (file: string) => readFileSync(file, 'utf8'),
  };
}

describe('workshop: a session', () => {
  test('the question, the answer, the verdict with its steps, and whether the answer was right', async () => {
    const { press, shows, screen, state } = begin();
    await shows('Build it · 1 of 3 · 02-recursive-retry');
    expect(screen()).toMatch(/What do you expect\?.*\n.* {2}a .*\n.* {2}b /s);
    expect(state()).toMatchObject({ phase: 'open', exercise: { name: '02-recursive-retry' }, isSolved: false });
    expect(state()?.prediction.right).toBeUndefined();

    press('h');
    await shows('First say what you expect');
    press('a');

    await shows('A and B are inside at the same time.');
    expect(screen()).toMatch(/✘ plain/);
    expect(screen()).toMatch(/0 ms {2}B {2}begins a sale {2}B is inside/);
    expect(screen()).toMatch(
      /You said a: .*That is not what happens\. .* The right answer is b: Both are inside at the same time\./s,
    );
    expect(state()).toMatchObject({
      phase: 'judged',
      prediction: { chosen: 0, right: 1 },
      verdict: {
        kind: 'fails',
        counterexample: { scope: 'plain', steps: [{ process: 'A', came: 'is inside' }, { process: 'B' }] },
      },
    });
  });

  test('each save is judged: an error, a file that has gone, a solution; then the solution may be seen', async () => {
    const { press, shows, save, exercises, textOf, screen, state, progress } = begin();
    const [exercise] = exercises as [Exercise];
    press('b');
    await shows('That is right.');

    press('s');
    await shows('The solution is shown when you have solved it.');
    save(0, textOf(exercise.original).replace('while (held', 'while held'));
    await shows(/It can't be judged yet\. .*lock\.ts:14: Expected "\("/);
    expect(screen()).not.toContain('You said');
    rmSync(exercise.file);
    await shows('lock.ts is not there.');
    save(0, textOf(exercise.solution));
    await shows('Solved. It holds in every order of events of this scope, with 2 processes × 1 sale');

    expect(progress.of(exercise.name).isSolved).toBe(true);
    expect(state()).toMatchObject({ isSolved: true, solved: 1, verdict: { kind: 'holds' } });
    press('s');
    await shows('solution.ts');
    expect(screen()).toContain("redis.set(key, 'held', 'NX')");
    press(' ');
    await shows('s solution');
    press('d');
    await shows('are the same.');
    press(' ');
    save(0, textOf(exercise.original));
    await shows('Not yet.');
    press('d');
    await shows(/^\+.*redis\.set\(key, 'held', 'NX'\)/m);
  });

  test('a second verdict like the first is told by its time, and the file and t stand last, where a small terminal shows them', async () => {
    let hour = 9;
    const { press, shows, save, exercises, textOf, screen } = begin({
      rows: 24,
      clock: () => new Date(2026, 0, 1, hour),
    });
    const [exercise] = exercises as [Exercise];
    press('b');
    await shows('judged at 09:00:00');
    expect(screen().trimEnd().split('\n').slice(-5).join('\n')).toMatch(
      /lock\.ts.*judged at.*t shows the text.*h hint/s,
    );
    hour = 10;
    save(0, textOf(exercise.original).replace('await abortable', 'await  abortable'));
    await shows('judged at 10:00:00');
  });

  test('t shows the text alone, and any key goes back to the verdict', async () => {
    const { press, shows, screen } = begin({ rows: 24 });
    press('b');
    await shows('Not yet.');
    expect(screen()).not.toContain('Each of them runs the mutex');
    press('t');
    await shows(/Each of them runs the mutex.*lock\.ts\s+Any key goes back\./s);
    expect(screen()).not.toMatch(/Not yet|h hint/);
    expect(screen().split('\n').length).toBeLessThan(24);
    press('q');
    await shows('Not yet.');
  });

  test('hints leave when it is solved, and h shows them again', async () => {
    const { press, shows, save, exercises, textOf, screen } = begin();
    const [exercise] = exercises as [Exercise];
    press('b');
    await shows('Not yet.');
    press('h');
    press('h');
    await shows('Hint 2 of 3');
    save(0, textOf(exercise.solution));
    await shows('Solved.');
    expect(screen()).not.toContain('Hint 1');
    expect(screen()).toContain('✔ solved');
    expect(screen()).toContain('More: docs/stages/2-recursive-retry.md');
    press('h');
    await shows(/Hint 1 of 3.*Hint 3 of 3/s);
    save(0, textOf(exercise.original));
    await shows('Not yet.');
    expect(screen()).toContain('✔ solved before');
  });

  test('the file of another exercise is saved: it is told which one is open', async () => {
    const { press, shows, save, exercises, textOf, all } = begin();
    press('b');
    await shows('Not yet.');
    save(2, textOf((exercises[2] as Exercise).solution));
    await shows('The file of exercise 04 was saved, and exercise 02 is open. Press l and 04 to go there.');
    // What was saved while it was on the screen is no news on the next one.
    save(0, textOf((exercises[0] as Exercise).solution));
    await shows('Solved.');
    press('n');
    await shows('03-spin');
    save(2, textOf((exercises[2] as Exercise).original));
    await shows('The file of exercise 04 was saved');
    expect(all()).not.toContain('The file of exercise 02 was saved');
  });

  test("where real servers judge alone: a file that can't be loaded is told at the save, and r does not run it", async () => {
    const drills: RealVerdict['verdict'][] = ['pass'];
    const { press, shows, save, exercises, textOf, screen, state, ran } = begin({ drills, numbers: [31] });
    const [exercise] = exercises as [Exercise];
    press('c');
    await shows('You said c. Press r to see whether that is right.');
    save(0, textOf(exercise.original).replace('export const answerOnce', 'export const'));
    await shows(/It can't be judged yet\. keys\.ts can't be loaded: line 8: /);
    expect(state()).toMatchObject({ phase: 'judged', verdict: { kind: 'broken' }, isSolved: false });
    press('r');
    await shows("so real servers can't run it either");
    save(0, 'export const answer = 1;');
    await shows('exports none of answerOnce');
    save(0, textOf(exercise.solution));
    await shows(/You have saved it, at \d\d:\d\d:\d\d\. Press r: real servers judge it\./);
    expect(screen()).not.toContain("It can't be judged yet");
    expect(ran).toEqual([]);
    press('r');
    await shows(/Solved\. n goes to the next exercise\.$/m);
    expect(screen()).toMatch(/keys\.ts · judged at/);
  });

  test('drills that hold solve nothing that the search has not decided', async () => {
    const drills: RealVerdict['verdict'][] = ['pass'];
    const undecided: SearchJudge = {
      ...search,
      judge: async () => ({ kind: 'unknown', sentence: 'So it is.', cells: [] }),
    };
    const { press, shows, screen, progress } = begin({ drills, judge: undecided });
    press('b');
    await shows('Not known. So it is.');
    press('r');
    await shows('The drills hold. The search has not decided yet, so the exercise is not solved.');
    expect(screen()).not.toMatch(/Solved|✔ solved|s solution/);
    expect(progress.of('02-recursive-retry').isSolved).toBe(false);
  });

  test('the search has seen it fail, and a drill holds: it is not solved', async () => {
    const drills: RealVerdict['verdict'][] = ['pass'];
    const { press, shows, screen } = begin({ drills });
    press('b');
    await shows('Not yet.');
    press('r');
    await shows('The drills hold, but the search has found what breaks the lock.');
    expect(screen()).not.toContain('Solved');
  });

  test('a search that takes long says for how many seconds', async () => {
    let isOver = (_: unknown) => {};
    const ended = new Promise((resolve) => {
      isOver = resolve;
    });
    const slow: SearchJudge = {
      ...search,
      async judge(...of) {
        await ended;
        return search.judge(...of);
      },
    };
    const { press, shows } = begin({ judge: slow });
    press('b');
    await shows('every order of events … 2 s');
    isOver(undefined);
    await shows('Not yet.');
  });

  test('hints one by one, the list, the keys, next and back', async () => {
    const { press, shows, exercises, screen, progress } = begin();
    press('b');
    await shows('Not yet.');
    for (const count of [1, 2, 3]) {
      press('h');
      await shows(`Hint ${count} of 3`);
      if (count < 3) expect(screen()).not.toContain(`Hint ${count + 1} of 3`);
    }
    press('h');
    await shows('There are no more hints.');

    press('?');
    await shows('Any key goes back.');
    press('xl');
    await shows(/→ {3}02 {2}.*\n.*03 /);
    press('04');
    await shows('Build it · 3 of 3 · 04-ttl');
    press('n');
    await shows('This is the last exercise.');
    press('\x1b[D');
    await shows('Build it · 2 of 3 · 03-spin');
    expect(progress.at()).toBe(exercises[1]?.name);
    expect(progress.of('02-recursive-retry')).toMatchObject({ hints: 3, chosen: 1, isAnswered: true });
  });

  test('80 columns: no line is longer, not even with a long order of events and every key', async () => {
    const { press, shows, save, exercises, textOf, all } = begin({ columns: 80, rows: 24, first: 2 });
    press('?');
    await shows('Any key goes back.');
    press('x');
    press('d');
    await shows('That is right.');
    const wordy = `redis.set(key, 'held-by-${'a'.repeat(30)}', 'NX')`;
    save(2, textOf((exercises[2] as Exercise).original).replace("redis.set(key, 'held', 'NX')", wordy));
    await shows(/SET lock held-by-a+ NX → "OK"\n {14}A is inside/);
    save(2, textOf((exercises[2] as Exercise).solution));
    await shows(/n next {3}b back {3}l list\n\? keys {3}q quit/);

    const lines = all().replaceAll('\x1b[2J\x1b[H', '').split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test('what is newest stands last: a hint that was asked for, and then the verdict of the next save', async () => {
    const { press, shows, save, exercises, textOf } = begin({ rows: 24 });
    press('b');
    await shows('Not yet.');
    press('h');
    await shows(/Not yet\..*Hint 1 of 3/s);
    save(0, textOf((exercises[0] as Exercise).original).replace('await abortable', 'await  abortable'));
    await shows(/Hint 1 of 3.*Not yet\./s);
  });

  test('an exercise that is reset in another terminal begins anew', async () => {
    const { press, shows, save, exercises, textOf, resetElsewhere, screen, progress } = begin();
    press('b');
    await shows('Not yet.');
    save(0, textOf((exercises[0] as Exercise).solution));
    await shows('Solved.');

    resetElsewhere(0);

    await shows('The exercise begins anew.');
    expect(screen()).toContain('What do you expect?');
    expect(screen()).not.toContain('✔ solved');
    press('n');
    await shows('03-spin');
    expect(progress.of('02-recursive-retry')).toMatchObject({ isSolved: false, isAnswered: false });
  });

  test('while the question is open, b answers; the arrows go back, and a save waits for the answer', async () => {
    const { press, shows, save, exercises, textOf, progress } = begin({ first: 2 });
    const exercise = exercises[2] as Exercise;
    await shows('04-ttl');
    save(2, textOf(exercise.solution));
    await shows('First say what the file did before');

    press('b');
    await shows('Solved. It holds');
    expect(progress.of('04-ttl')).toMatchObject({ chosen: 1, isSolved: true });
    press('b');
    await shows('03-spin');
  });

  test('on real servers: what the drill does is told as it goes; keys wait, and a save is judged when it has ended', async () => {
    const drills: RealVerdict['verdict'][] = [];
    const { press, shows, ran, screen, state, exercises, save, textOf } = begin({ drills });
    const [exercise] = exercises as [Exercise];
    press('b');
    await shows('Not yet.');

    press('r');
    await shows('0.12 s  node-1 is about to sell.');
    press('n');
    save(0, textOf(exercise.solution));
    expect(state()?.phase).toBe('running');
    drills.push('fail');
    await shows('Solved. It holds');
    expect(screen()).toContain('02-recursive-retry');
    press('r');
    drills.push('pass');
    await shows('Solved on real servers, too.');

    expect(ran).toEqual([textOf(exercise.original), textOf(exercise.solution)]);
    expect(screen()).toMatch(/rush +✔ holds +do two nodes together lose sales\?\n +So it was\./);
    expect(state()).toMatchObject({ phase: 'judged', real: { drills: [{ drill: 'rush', verdict: 'pass' }] } });
  });

  test('where the search cannot tell, the drill decides, and the answer is explained with it', async () => {
    const drills: RealVerdict['verdict'][] = ['fail', 'unknown', 'pass'];
    const { press, shows, screen, progress } = begin({ drills, first: 1 });
    press('b');
    await shows('Press r: the real servers decide.');
    expect(screen()).not.toContain('You said b:');
    expect(progress.of('03-spin').isSolved).toBe(false);

    press('r');
    await shows('This is what the exercise is about.');
    expect(screen()).toContain('You said b:');
    expect(progress.of('03-spin').isSolved).toBe(false);
    press('r');
    await shows('so nothing is known');
    press('r');
    await shows('Solved. n goes to the next exercise.');
    expect(progress.of('03-spin').isSolved).toBe(true);
  });

  test("a file that can't be loaded is not run on real servers", async () => {
    const { press, shows, save, ran } = begin({ drills: ['pass'] });
    press('b');
    await shows('Not yet.');
    save(0, 'export const');
    await shows("It can't be judged yet.");
    press('r');
    await shows("so real servers can't run it either");
    expect(ran).toEqual([]);
  });

  test.each([
    ['q', 'q'],
    ['Ctrl-C', '\x03'],
  ])('%s ends it, and the state for others is gone', async (_key, sequence) => {
    const { press, ended, state, shows } = begin();
    await shows('02-recursive-retry');
    press(sequence);
    await ended;
    expect(state()).toBeUndefined();
  });

  test('the end of the input ends it, also while the search is at it', async () => {
    const { press, ended, input } = begin();
    press('b');
    input.end();
    await ended;
  });

  test('no words of the lab for a failure that is meant', async () => {
    const { press, shows, save, all } = begin({ drills: ['fail'] });
    press('b');
    await shows('Not yet.');
    save(0, "throw new Error('mine');");
    await shows('lock.ts: mine.');
    press('l');
    await shows('Two digits');
    expect(all()).not.toMatch(/test failed|at .*\.ts:\d+:\d+\)|node:internal|Error:/);
  });
});
