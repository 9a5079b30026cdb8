import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import pc from 'picocolors';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openProgress } from '../../exercises/workshop/progress.ts';
import type { RealJudge, RealVerdict } from '../../exercises/workshop/real-judge.ts';
import { reset } from '../../exercises/workshop/reset.ts';
import type { SearchJudge, SearchVerdict } from '../../exercises/workshop/search-judge.ts';
import { runSession } from '../../exercises/workshop/session.ts';
import { readState } from '../../exercises/workshop/state.ts';
import type { Cell } from '../../prove/cell.ts';
import { ownExercises } from './own-exercises.ts';

/** A file that can't be read. */
const BROKEN = 'export const';

/**
 * Says of a solution that it holds, and of any other file that A and B are inside at the same time. What the search itself says is in
 * search-judge.test.ts.
 */
const stub: SearchJudge = {
  makeReady() {},
  close() {},
  async judge({ solution }, file): Promise<SearchVerdict> {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text === '' || text === BROKEN) return { kind: 'broken', sentence: `lock.ts: "${text}".`, cells: [] };
    const told = [{ at: 0, step: 'entered' as const, sale: 1 }];
    const begins = { at: 0, kind: 'begins' as const, command: 'begins a sale', told };
    const isSolved = text === readFileSync(solution, 'utf8');
    const cell = {
      scope: 'plain',
      says: '',
      processes: 2,
      sales: 1,
      schedules: 6,
      verdict: isSolved ? 'holds' : 'fails',
      reason: 'A and B are inside at the same time.',
      counterexample: ['A', 'B'].map((process) => ({ ...begins, process })),
    } as Cell;
    if (isSolved) return { kind: 'holds', sentence: '', cells: [cell] };
    return { kind: 'fails', sentence: cell.reason, cells: [cell], failed: cell };
  },
};

const ends: (() => Promise<void>)[] = [];
// The test says when files are looked at.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  vi.useRealTimers();
});

interface Options {
  judge?: SearchJudge['judge'];
  numbers?: number[];
  first?: number;
  rows?: number;
  clock?: () => Date;
}

/** A session on streams instead of a terminal. A drill runs until the test says what came of it. */
function begin({ judge = stub.judge, numbers = [2, 3, 4], first = 0, rows = 60, clock }: Options = {}) {
  const { root, exercises } = ownExercises(numbers);
  const input = new PassThrough();
  let screen = '';
  let all = '';
  const looks = new Set<() => void>();
  const output = {
    columns: 100,
    rows,
    write(text: string) {
      all += text;
      screen = text.includes('\x1b[2J') ? text : screen + text;
      for (const look of looks) look();
    },
  };
  const ran: string[] = [];
  let drillEnds = (_: RealVerdict['verdict']) => {};
  const servers: RealJudge = {
    async warmUp() {},
    async run({ settings }, { file, onDrill, narrate }) {
      const [drill = ''] = settings.drills;
      ran.push(readFileSync(file, 'utf8'));
      const ended = new Promise<RealVerdict['verdict']>((resolve) => {
        drillEnds = resolve;
      });
      onDrill(drill);
      narrate('node-1 is about to sell.', 120);
      return [{ drill, verdict: await ended, reason: 'So it was.', witnesses: [] }];
    },
    // What is said of files on real servers is in test/soak/exercises.
    whyNotLoaded: async ({ file }) => (readFileSync(file, 'utf8') === BROKEN ? "keys.ts can't be loaded." : undefined),
    async close() {},
  };
  const progressFile = join(root, '.workshop.json');
  const progress = openProgress(progressFile);
  const state = join(root, 'reports/workshop.json');
  const stopping = new AbortController();
  const ended = runSession({
    exercises,
    first: exercises[first] ?? exercises[0],
    progress,
    search: { ...stub, judge },
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
  });

  /** Resolves when the screen shows it. Where a line is wrapped depends on the length of the path. */
  const shows = (text: string | RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        const lines = [screen, screen.replace(/\s+/g, ' ')];
        if (!lines.some((one) => (typeof text === 'string' ? one.includes(text) : text.test(one)))) return;
        looks.delete(look);
        resolve();
      };
      looks.add(look);
      look();
    });
  const press = (keys: string) => void input.write(keys);
  const save = (exercise: number, text: string) => {
    writeFileSync(exercises[exercise]?.file ?? '', text);
    vi.advanceTimersByTime(1_000);
  };
  return {
    exercises,
    progress,
    ended,
    input,
    ran,
    shows,
    press,
    save,
    solve: (exercise: number) => save(exercise, readFileSync(exercises[exercise]?.solution ?? '', 'utf8')),
    /** What `npm run workshop -- reset` does in another terminal. */
    resetElsewhere() {
      reset(exercises[0], openProgress(progressFile));
      vi.advanceTimersByTime(1_000);
    },
    /** Answers the question, and waits for the verdict. */
    async fails() {
      press('b');
      await shows('Not yet.');
    },
    async runs(verdict: RealVerdict['verdict']) {
      press('r');
      await shows('node-1 is about to sell.');
      drillEnds(verdict);
    },
    drillEnds: (verdict: RealVerdict['verdict']) => drillEnds(verdict),
    all: () => all,
    screen: () => screen,
    state: () => readState(state),
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
    expect(screen()).toMatch(/✘ plain.*0 ms {2}B {2}begins a sale {2}B is inside/s);
    const answer = 'The right answer is b: Both are inside at the same time.';
    await shows(new RegExp(`You said a: .*That is not what happens\\. .*${answer}`));
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
    const { fails, press, shows, save, solve, exercises, screen, state, ran } = begin();
    await fails();
    press('s');
    await shows('The solution is shown when you have solved it.');
    save(0, BROKEN);
    await shows(`It can't be judged yet. lock.ts: "${BROKEN}".`);
    expect(screen()).not.toContain('You said');
    press('r');
    await shows("so real servers can't run it either");
    expect(ran).toEqual([]);
    rmSync(exercises[0].file);
    vi.advanceTimersByTime(1_000);
    await shows('lock.ts: "".');

    solve(0);
    await shows('Solved. It holds in every order of events of this scope, with 2 processes × 1 sale');
    expect(state()).toMatchObject({ isSolved: true, solved: 1, verdict: { kind: 'holds' } });
    press('s');
    await shows("redis.set(key, 'held', 'NX')");
    press(' ');
    await shows('s solution');
    save(0, 'export const mine = 1;');
    await shows('Not yet.');
    press('d');
    await shows(/^\+.*redis\.set\(key, 'held', 'NX'\)/m);
  });

  test('hints come one by one, leave when it is solved, and h shows them again', async () => {
    const { fails, press, shows, save, solve, screen, progress } = begin();
    await fails();
    for (const count of [1, 2, 3]) {
      press('h');
      await shows(`Hint ${count} of 3`);
      expect(screen()).not.toContain(`Hint ${count + 1} of 3`);
    }
    press('h');
    await shows('There are no more hints.');
    expect(progress.of('02-recursive-retry')).toMatchObject({ hints: 3, chosen: 1, isAnswered: true });

    solve(0);
    await shows('✔ solved');
    expect(screen()).not.toContain('Hint 1');
    await shows('More: docs/stages/2-recursive-retry.md');
    press('h');
    await shows(/Hint 1 of 3.*Hint 3 of 3/s);
    save(0, 'export const mine = 1;');
    await shows('✔ solved before');
  });

  test('the list, the keys, next and back', async () => {
    const { fails, press, shows, exercises, progress } = begin();
    await fails();
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
  });

  test.each([
    ['q', 'q'],
    ['Ctrl-C', '\x03'],
    ['the end of the input', undefined],
  ])('%s ends it, also while the search is at it, and the state for others is gone', async (_what, key) => {
    const { press, input, ended, state, shows } = begin({ judge: () => new Promise(() => {}) });
    press('b');
    await shows('every order of events …');
    if (key === undefined) input.end();
    else press(key);
    await ended;
    expect(state()).toBeUndefined();
  });
});

describe('workshop: a session on real servers', () => {
  test('what the drill does is told as it goes; keys wait, and a save is judged when it has ended', async () => {
    const { fails, press, shows, runs, drillEnds, ran, screen, state, exercises, solve } = begin();
    await fails();
    press('r');
    await shows('0.12 s  node-1 is about to sell.');
    press('n');
    solve(0);
    expect(state()?.phase).toBe('running');
    drillEnds('fail');
    await shows('Solved. It holds');
    expect(screen()).toContain('02-recursive-retry');
    await runs('pass');
    await shows('Solved on real servers, too.');

    expect(ran).toEqual([exercises[0].original, exercises[0].solution].map((file) => readFileSync(file, 'utf8')));
    expect(screen()).toMatch(/rush +✔ holds +do two nodes together lose sales\?\n +So it was\./);
    expect(state()).toMatchObject({ phase: 'judged', real: { drills: [{ drill: 'rush', verdict: 'pass' }] } });
  });

  test.each<[string, SearchJudge['judge'], string]>([
    ['has seen it fail', stub.judge, 'The drills hold, but the search has found what breaks the lock.'],
    [
      'has not decided',
      async () => ({ kind: 'unknown', sentence: 'So it is.', cells: [] }),
      'The drills hold. The search has not decided yet, so the exercise is not solved.',
    ],
  ])('drills that hold solve nothing where the search %s', async (_which, judge, says) => {
    const { press, shows, runs, screen, progress } = begin({ judge });
    press('b');
    await shows(/Not yet\.|Not known\. So it is\./);
    await runs('pass');
    await shows(says);
    expect(screen()).not.toMatch(/Solved|✔ solved|s solution/);
    expect(progress.of('02-recursive-retry').isSolved).toBe(false);
  });

  test('where the search cannot tell, the drill decides, and the answer is explained with it', async () => {
    const { press, shows, runs, screen, solve, progress } = begin({ first: 1 });
    const isSolved = () => progress.of('03-spin').isSolved;
    solve(1);
    await shows('First say what the file did before');
    press('b');
    await shows('Press r: the real servers decide.');
    expect([screen().includes('You said b:'), isSolved()]).toEqual([false, false]);

    await runs('fail');
    await shows('This is what the exercise is about.');
    expect([screen().includes('You said b:'), isSolved()]).toEqual([true, false]);
    await runs('unknown');
    await shows('so nothing is known');
    await runs('pass');
    await shows('Solved. n goes to the next exercise.');
    expect(isSolved()).toBe(true);
  });

  test("where they judge alone: a file that can't be loaded is told at the save, and r does not run it", async () => {
    const { press, shows, runs, save, solve, screen, state, ran } = begin({ numbers: [31] });
    press('c');
    await shows('You said c. Press r to see whether that is right.');
    save(0, BROKEN);
    await shows("It can't be judged yet. keys.ts can't be loaded.");
    expect(state()).toMatchObject({ phase: 'judged', verdict: { kind: 'broken' }, isSolved: false });
    press('r');
    await shows("so real servers can't run it either");
    solve(0);
    await shows(/You have saved it, at \d\d:\d\d:\d\d\. Press r: real servers judge it\./);
    expect(screen()).not.toContain("It can't be judged yet");
    expect(ran).toEqual([]);
    await runs('pass');
    await shows(/Solved\. n goes to the next exercise\./);
  });
});
