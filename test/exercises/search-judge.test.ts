import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Exercise, readExercise } from '../../exercises/workshop/exercise.ts';
import { openSearchJudge } from '../../exercises/workshop/search-judge.ts';
import { projectDir } from '../../scripts/stack/parts.ts';

const root = mkdtempSync(join(tmpdir(), 'lockstep-judge-'));
const folder = join(root, 'exercises/02-lock');
mkdirSync(folder, { recursive: true });
symlinkSync(join(projectDir, 'locks'), join(root, 'locks'));
const judge = openSearchJudge();
afterAll(() => {
  judge.close();
  rmSync(root, { recursive: true });
});

const exercise = readExercise('02-recursive-retry');

/** Judges a lock with this acquire(). */
const judgeAcquire = (acquire: string) =>
  judgeText(`import type { CreateLock } from '../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, retryDelayMs }) => ({
  async acquire() {
    ${acquire}
  },
  async release() {
    await redis.del(key);
  },
});
`);

function judgeText(text: string | undefined, of: Exercise = exercise) {
  const file = join(folder, 'lock.ts');
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text);
  return judge.judge(of, file, { signal: new AbortController().signal });
}

describe('workshop: the search judges what attendees write', () => {
  test('a lock that fails: the scope, the reason and the steps; one that holds: the orders', async () => {
    const failed = await judge.judge(exercise, exercise.original, { signal: new AbortController().signal });
    expect(failed).toMatchObject({ kind: 'fails', sentence: 'A and B are inside at the same time.' });
    expect(failed.failed).toMatchObject({ scope: 'plain', replayed: 20 });
    expect(failed.failed?.counterexample?.length).toBeGreaterThan(0);

    const held = await judge.judge(exercise, exercise.solution, { signal: new AbortController().signal });
    expect(held.kind).toBe('holds');
    expect(held.cells.map(({ scope, cut }) => [scope, cut])).toEqual([['plain', 0]]);
  });

  test('the same each time', async () => {
    const [once, again] = [await judgeAcquire('await null;'), await judgeAcquire('await null;')];
    expect(once.kind).toBe('fails');
    expect(again.failed?.counterexample).toEqual(once.failed?.counterexample);
  });

  test.each([
    ['a syntax error', 'if (;', /lock\.ts:5: Unexpected ";"\.$/],
    ['a name that does not exist', 'await redis.set(key, leaseMs);', /leaseMs is not defined/],
    ['a lock that never settles', 'await new Promise(() => {});', /^A waits for ever\.$/],
    ['a loop that never ends', 'for (;;);', /^The lock never comes back/],
    ['a loop that awaits nothing', 'for (;;) await null;', /^The lock never comes back/],
    [
      'no pause between two tries',
      "while ((await redis.set(key, 1, 'NX')) !== 'OK');",
      /^A waiter sends SET again and again/,
    ],
    ['a process that exits', 'process.exit(1);', /^Line 5 uses process\.exit\./],
    [
      'the clock of the system',
      'await redis.set(key, Date.now());',
      /^Line 5 uses Date\.now\. The search can't control that.*do it with Redis/,
    ],
    [
      'a transaction',
      '// No MULTI.\n    await redis.multi().get(key).exec();',
      /^Line 6 uses MULTI\. The search can't control a transaction.*use a script\.$/,
    ],
    ['the command itself', "await redis.call('WATCH', key);", /^Line 5 uses the command WATCH, .*use a script\.$/],
    [
      'a script without the number of its keys',
      "await redis.eval('return 1', key);",
      /^A fails: ERR value is not an integer.*\. eval needs the number of the keys as its second argument\.$/,
    ],
    ['an error that it throws', "throw new Error('no luck');", /^A fails: no luck$/],
    [
      'a lock that nobody gives up',
      "while ((await redis.set('other', 1, 'NX')) !== 'OK') await new Promise((go) => setTimeout(go, retryDelayMs));",
      /^Somebody still waits/,
    ],
  ])('%s: a plain sentence', async (_what, acquire, sentence) => {
    const verdict = await judgeAcquire(acquire);
    expect(verdict.kind).not.toBe('holds');
    expect(verdict.sentence).toMatch(sentence);
    expect(verdict.sentence).not.toMatch(/\n|node_modules|prove\//);
  });

  test.each([
    ['an empty file', ' \n', /lock\.ts is empty\. To put it back as it was: npm run workshop -- reset 02$/],
    ['no file', undefined, /lock\.ts is not there\. To put it back as it was: npm run workshop -- reset 02$/],
    ['no createLock', 'export const lock = 1;', /lock\.ts: it exports no createLock\.$/],
    [
      'an import of nothing',
      "import { a } from './a.ts';\nexport const createLock = a;",
      /lock\.ts:1: Could not resolve "\.\/a\.ts"\.$/,
    ],
    [
      'a module of the system',
      "import { execSync } from 'node:child_process';\nexport const createLock = execSync;",
      /lock\.ts:1: it imports node:child_process\./,
    ],
    ['an error at the top', "throw new Error('at once');", /lock\.ts: at once\.$/],
  ])('%s: a plain sentence', async (_what, text, sentence) => {
    const verdict = await judgeText(text);
    expect(verdict).toMatchObject({ kind: 'broken', cells: [], sentence: expect.stringMatching(sentence) });
  });

  test('what comes next is judged as if nothing had happened', async () => {
    const verdict = await judge.judge(exercise, exercise.solution, { signal: new AbortController().signal });
    expect(verdict.kind).toBe('holds');
  });

  test('a judgement that is not wanted any more ends, and the next one is right', async () => {
    const stopping = new AbortController();
    const unwanted = judge.judge(exercise, exercise.original, { signal: stopping.signal });
    stopping.abort(new Error('another save'));

    await expect(unwanted).rejects.toThrow('another save');
    expect((await judgeAcquire('await null;')).kind).toBe('fails');
  });
});
