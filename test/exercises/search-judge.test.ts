import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSearchJudge } from '../../exercises/workshop/search-judge.ts';
import { ownExercises } from './own-exercises.ts';

const judge = openSearchJudge();
afterAll(() => judge.close());
const { signal } = new AbortController();
const [exercise] = ownExercises([2]).exercises;

/** Judges the file of the exercise with this text in it, or without one. */
function judgeText(text: string | undefined) {
  if (text === undefined) rmSync(exercise.file);
  else writeFileSync(exercise.file, text);
  return judge.judge(exercise, exercise.file, { signal });
}

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

describe('workshop: the search judges what attendees write', () => {
  test('a lock that fails: the scope, the reason and the steps', async () => {
    const { kind, sentence, failed } = await judge.judge(exercise, exercise.original, { signal });
    expect([kind, sentence]).toEqual(['fails', 'A and B are inside at the same time.']);
    expect(failed).toMatchObject({ scope: 'plain', replayed: 20 });
    expect(failed?.counterexample?.map(({ process }) => process)).toContain('B');
  });

  test.each([
    [
      'no pause between two tries',
      "while ((await redis.set(key, 1, 'NX')) !== 'OK');",
      /^A waiter sends SET again and again/,
    ],
    [
      'the clock of the system',
      'await redis.set(key, Date.now());',
      /^Line 5 uses Date\.now\. The search can't control that.*do it with Redis/,
    ],
    [
      'a script without the number of its keys',
      "await redis.eval('return 1', key);",
      /^A fails: ERR value is not an integer.*\. eval needs the number of the keys as its second argument\.$/,
    ],
    [
      'a lock that nobody gives up',
      "while ((await redis.set('other', 1, 'NX')) !== 'OK') await new Promise((go) => setTimeout(go, retryDelayMs));",
      /^[A-Z] still waits/,
    ],
  ])('%s: a plain sentence', async (_what, acquire, sentence) => {
    const verdict = await judgeAcquire(acquire);

    expect(verdict.kind).not.toBe('holds');
    expect(verdict.sentence).toMatch(sentence);
    expect(verdict.sentence).not.toMatch(/\n|node_modules|prove\//);
  });

  test.each([
    ['an empty file', ' \n', /lock\.ts is empty\. To put it back as it was: npm run workshop -- reset 02$/],
    ['a syntax error', 'export const createLock =;', /lock\.ts:1: Unexpected ";"\.$/],
    ['a module of the system', "import 'node:child_process';", /lock\.ts:1: it imports node:child_process\./],
  ])('%s: a plain sentence', async (_what, text, sentence) => {
    expect(await judgeText(text)).toMatchObject({
      kind: 'broken',
      cells: [],
      sentence: expect.stringMatching(sentence),
    });
  });

  test('a loop that never ends is given up after sixteen looks without a sign', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const judged = judgeAcquire('for (;;);');
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(4_000);

    expect((await judged).sentence).toMatch(/^The lock never comes back/);
  });

  test('a judgement that is not wanted any more ends, and the next one is right', async () => {
    const stopping = new AbortController();
    const unwanted = judge.judge(exercise, exercise.original, { signal: stopping.signal });
    stopping.abort(new Error('another save'));

    await expect(unwanted).rejects.toThrow('another save');
    const held = await judge.judge(exercise, exercise.solution, { signal });
    expect(held).toMatchObject({ kind: 'holds', cells: [{ scope: 'plain', cut: 0 }] });
  });
});
