// The exercises, judged by real servers: what is there to be mended fails, what is mended holds, and a file that breaks its process is told so.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { type Exercise, readExercises } from '../../../exercises/workshop/exercise.ts';
import { openLockServers } from '../../../exercises/workshop/lock-servers.ts';
import { openOrderServers } from '../../../exercises/workshop/order-servers.ts';
import { fileOfAttempt, ownFile, readAttempts } from '../../exercises/attempted.ts';
import { noModule } from '../../loadtest/grade/modules.ts';

const judges = { search: openLockServers(() => {}), orders: openOrderServers() };
afterAll(async () => {
  for (const judge of Object.values(judges)) await judge.close();
});

const exercises = readExercises().filter(({ settings }) => settings.drills.length > 0);
const numbered = (wanted: number) => exercises.find(({ number }) => number === wanted) as Exercise;
const ofOrders = exercises.filter(({ settings }) => settings.judge === 'orders');

/** Plays the drills of an exercise for a file: what each came to, and what was said meanwhile. */
async function play(exercise: Exercise, file: string, signal = new AbortController().signal) {
  const said: string[] = [];
  const narrate = (sentence: string) => void said.push(sentence);
  const run = { file, signal, onDrill() {}, onVerdict() {}, narrate };
  const verdicts = await judges[exercise.settings.judge].run(exercise, run);
  return { verdicts, told: verdicts.map(({ drill, verdict }) => `${drill}: ${verdict}`), said };
}

/** It holds in every drill before this one, and fails in this one, for this reason. */
async function failsIn(exercise: Exercise, file: string, { drill = '', reason = '' }) {
  const { verdicts, told } = await play(exercise, file);
  const { drills } = exercise.settings;
  const before = drills.slice(0, drills.indexOf(drill)).map((name) => `${name}: pass`);

  expect(told).toEqual([...before, `${drill}: fail`]);
  if (exercise.settings.judge === 'orders') expect(verdicts.at(-1)?.reason).toContain(reason);
}

const unsolved = exercises.filter(({ settings }) => settings.fails.drill !== undefined);

test.each(unsolved)('$name: before anybody changes it, it fails the drill that it names', (exercise) =>
  failsIn(exercise, exercise.original, exercise.settings.fails),
);

test.each(exercises)('$name: solved, it holds every drill', async (exercise) => {
  const { told } = await play(exercise, exercise.solution);
  expect(told).toEqual(exercise.settings.drills.map((drill) => `${drill}: pass`));
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
    ['exits', 4, lockThat('process.exit(7);'), /node-\d ended with exit code 7/],
    ['blocks its process', 4, lockThat('for (;;);'), /stopped answering/],
    ['throws', 4, lockThat("throw new Error('no luck');"), /no luck/],
    ['is no code', 31, 'export const answerOnce = {', /can't be loaded: line \d: .*\.$/],
    ['exports something else', 31, 'export const x = 1;', /can't be loaded: it exports none of answerOnce, .*\.$/],
    ['throws', 31, answerThat('throw new TypeError("mine");'), /^answerOnce\(\) fails: TypeError: mine\.$/],
    [
      'rejects, and nobody catches it',
      31,
      answerThat('void Promise.reject(new Error("mine")); return work();'),
      /^There is an error that nobody catches: Error: mine\.$/,
    ],
    ['exits', 31, answerThat('process.exit(3);'), /^node-\d ended with exit code 3: does your file call/],
    ['computes for ever', 31, answerThat('for (;;);'), /^node-\d no longer answers anybody: your file computes/],
  ])('one that %s, in exercise %i', async (_what, number, source, why) => {
    const file = noModule('file.ts');
    writeFileSync(file, source);
    const { verdicts } = await play(numbered(number), file);

    expect(verdicts).toMatchObject([{ verdict: 'fail', reason: expect.stringMatching(why) }]);
  });
});
