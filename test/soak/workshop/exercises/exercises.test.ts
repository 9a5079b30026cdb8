// The exercises that real servers decide: what is there to be mended fails, what is mended holds, and a file that breaks its process is told so.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Exercise, readExercises } from '../../../../workshop/exercises/exercise.ts';
import { judge } from '../../../../workshop/exercises/judge.ts';
import { playLock } from '../../../../workshop/exercises/lock-servers.ts';
import { playOrders } from '../../../../workshop/exercises/order-servers.ts';
import { noModule } from '../../../loadtest/grade/modules.ts';
import { fileOfAttempt, ownFile, readAttempts } from '../../../workshop/exercises/attempted.ts';

const exercises = readExercises().filter(({ settings }) => settings.fails.scope === undefined);
const numbered = (wanted: number) => exercises.find(({ number }) => number === wanted) as Exercise;
const ofOrders = exercises.filter(({ settings }) => settings.search === undefined);

/** Plays the drills of an exercise for a file, and tells what each came to. */
async function play(exercise: Exercise, file: string) {
  const run = exercise.settings.search === undefined ? playOrders : playLock;
  const verdicts = await run({ ...exercise, file }, new AbortController().signal);
  return { verdicts, told: verdicts.map(({ drill, verdict }) => `${drill}: ${verdict}`) };
}

/** It holds in every drill before this one, and fails in this one, for this reason. */
async function failsIn(exercise: Exercise, file: string, { drill = '', reason = '' }) {
  const { verdicts, told } = await play(exercise, file);
  const { drills } = exercise.settings;
  const before = drills.slice(0, drills.indexOf(drill)).map((name) => `${name}: pass`);

  expect(told).toEqual([...before, `${drill}: fail`]);
  expect(verdicts.at(-1)?.reason).toContain(reason);
}

test.each(exercises)('$name: before anybody changes it, it fails the drill that it names', (exercise) =>
  failsIn(exercise, exercise.original, exercise.settings.fails),
);

test.each(exercises)('$name: solved, it holds every drill', async (exercise) => {
  const { told } = await play(exercise, exercise.solution);
  expect(told).toEqual(exercise.settings.drills.map((drill) => `${drill}: pass`));
});

/** The search needs seconds for it, and more states than for any other. */
const long = readExercises().filter(({ settings }) => settings.fails.scope === 'zombie-renewal');
test.each(long)('$name: the workshop finds what is wrong, and sees that it is solved', async (exercise) => {
  const judgeFile = (file: string) => judge({ ...exercise, file }, new AbortController().signal);

  expect(await judgeFile(exercise.original)).toMatchObject({ isSolved: false, isBroken: true });
  expect(await judgeFile(exercise.solution)).toMatchObject({ isSolved: true });
});

const attempts = readAttempts().flatMap((attempt) =>
  ofOrders.filter(({ name }) => name === attempt.name).map((exercise) => ({ ...attempt, exercise, attempt })),
);
test.each(attempts)('$name: an attempt is caught that $what', ({ exercise, attempt }) =>
  failsIn(exercise, fileOfAttempt(exercise, attempt), { drill: attempt.fails, reason: attempt.reason }),
);

test('03: a call that is returned and not awaited keeps as much, and that is caught', async () => {
  const text = readFileSync(numbered(3).original, 'utf8');
  const file = ownFile('returned', text.replace('    await acquire(signal);', '    return acquire(signal);'));
  expect(readFileSync(file, 'utf8')).toContain('return acquire');

  expect((await play(numbered(3), file)).told).toEqual(['long-wait: fail']);
});

describe('a file that breaks its process fails with a sentence, and the next one is judged', () => {
  const lockThat = (acquire: string) =>
    `export const createLock = () => ({ async acquire() { ${acquire} }, async release() {} });\n`;
  const answerThat = (body: string) => `export const answerOnce = async ({ work }: any) => { ${body} };`;
  test.each([
    ['exits', 3, lockThat('process.exit(7);'), /node-\d ended with exit code 7/],
    ['throws', 3, lockThat("throw new Error('no luck');"), /no luck/],
    ['is no code', 31, 'export const answerOnce = {', /^No node starts with your file: its import fails: /],
    ['exports something else', 31, 'export const x = 1;', /it exports none of answerOnce, .*\.$/],
    ['throws', 31, answerThat('throw new TypeError("mine");'), /node-\d reports an error: TypeError: mine\.$/],
    [
      'rejects, and nobody catches it',
      31,
      answerThat('void Promise.reject(new Error("mine")); return work();'),
      /mine/,
    ],
    ['exits', 31, answerThat('process.exit(3);'), /^node-\d ended with exit code 3/],
    ['computes for ever', 31, answerThat('for (;;);'), /without end/],
  ])('one that %s, in exercise %i', async (_what, number, source, why) => {
    const file = noModule('file.ts');
    writeFileSync(file, source);
    const { verdicts } = await play(numbered(number), file);

    expect(verdicts).toMatchObject([{ verdict: 'fail', reason: expect.stringMatching(why) }]);
  });

  test('a lock that blocks its process: nobody knows, and the reason says why', async () => {
    const file = noModule('file.ts');
    writeFileSync(file, lockThat('for (;;);'));
    const { verdicts } = await play(numbered(3), file);

    const reason = expect.stringMatching(/got no answer within 10 s: its process may compute without end/);
    expect(verdicts).toMatchObject([{ verdict: 'unknown', reason }]);
  });
});
