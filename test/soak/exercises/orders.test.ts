import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { type Exercise, readExercises } from '../../../exercises/workshop/exercise.ts';
import { openOrderServers } from '../../../exercises/workshop/order-servers.ts';
import type { RealJudge, RealVerdict } from '../../../exercises/workshop/real-judge.ts';
import { exerciseDrills } from '../../../loadtest/orders/drills/index.ts';
import { exerciseColumns } from '../../../loadtest/staircase/exercises.ts';
import { cleanUpLater } from '../../clean-up.ts';
import type { Attempt } from '../../exercises/attempt.ts';
import { fileOfAttempt } from '../../exercises/attempted.ts';

const exercises = readExercises().filter(({ settings }) => settings.judge === 'orders');

/** What the right answer to each question says. The drill that an exercise fails says the same of it. */
const rightAnswers: Record<string, RegExp> = {
  '31-the-lost-answer': /^node-2 sells a second unit\.$/,
  '32-after-the-crash': /^node-2 sells a second unit\.$/,
  '33-more-than-we-bought': /^200: /,
  '34-paid-and-unpaid': /^Never\.$/,
};

// One stack for all of them.
const servers = openOrderServers();
afterAll(() => servers.close());

/** Plays the drills of an exercise for a file, and resolves with what they said and what happened meanwhile. */
async function play(exercise: Exercise, file: string, judge: RealJudge = servers) {
  const steps: string[] = [];
  const told: RealVerdict[] = [];
  const verdicts = await judge.run(exercise, {
    file,
    signal: new AbortController().signal,
    onDrill() {},
    onVerdict: (verdict) => told.push(verdict),
    narrate: (sentence) => steps.push(sentence),
  });
  expect(told).toEqual(verdicts);
  return { verdicts, steps };
}

/** It holds in every drill before this one, and fails in this one, for this reason. */
function expectFailure({ settings: { drills } }: Exercise, verdicts: RealVerdict[], drill: string, reason: string) {
  const before = drills.slice(0, drills.indexOf(drill));
  expect(verdicts.map(({ drill, verdict }) => `${drill}: ${verdict}`)).toEqual([
    ...before.map((name) => `${name}: pass`),
    `${drill}: fail`,
  ]);
  expect(verdicts.at(-1)?.reason).toContain(reason);
}

const attemptsOf = async ({ name }: Exercise): Promise<Attempt[]> =>
  (await import(`../../exercises/attempts/${name}.ts`)).attempts;
const attempted = await Promise.all(
  exercises.map(async (exercise) => ({ exercise, attempts: await attemptsOf(exercise) })),
);

test('orders: each drill that is no column of a staircase has its words', () => {
  expect(exerciseDrills.map(({ name }) => name).toSorted()).toEqual(Object.keys(exerciseColumns).toSorted());
});

test('orders: there are exercises, and each has its right answer and three attempts', () => {
  expect(exercises.map(({ name }) => name)).toEqual(Object.keys(rightAnswers));
  for (const { attempts } of attempted) expect(attempts.length).toBeGreaterThanOrEqual(3);
});

describe.each(attempted)('orders: $exercise.name', ({ exercise, attempts }) => {
  const { name, original, solution, settings, prediction } = exercise;
  const { drill = '', reason = '' } = settings.fails;

  test('fails for the reason that it names, and the prediction says so', async () => {
    const { verdicts, steps } = await play(exercise, original);

    expectFailure(exercise, verdicts, drill, reason);
    expect(verdicts.at(-1)?.witnesses).not.toEqual([]);
    expect(steps).not.toEqual([]);
    expect(reason).not.toBe('');
    expect(prediction.answers.find(({ isRight }) => isRight)?.text).toMatch(rightAnswers[name] ?? /^$/);
  });

  test('its solution holds in every drill', async () => {
    const { verdicts } = await play(exercise, solution);

    const told = verdicts.map(({ drill, verdict, reason }) => ({
      drill,
      verdict,
      ...(verdict !== 'pass' && { reason }),
    }));
    expect(told).toEqual(settings.drills.map((drill) => ({ drill, verdict: 'pass' })));
  });

  test.each(attempts)('an attempt is caught that $what', async (attempt) => {
    const { verdicts } = await play(exercise, fileOfAttempt(exercise, attempt));

    expectFailure(exercise, verdicts, attempt.fails, attempt.reason ?? '');
  });
});

describe('orders: a file that can’t be judged is told so in a sentence, and the next one is judged', () => {
  const [exercise] = exercises;
  if (exercise === undefined) throw new Error('There is no exercise about orders.');
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-orders-'));
  cleanUpLater(() => rmSync(dir, { recursive: true }));

  test.each([
    ['syntax.ts', 'export const answerOnce = {', /^syntax\.ts can't be loaded: line \d: .*\.$/],
    [
      'other.ts',
      'export const createLock = () => {};',
      /^other\.ts can't be loaded: it exports none of answerOnce, .*\.$/,
    ],
    ['clean-up.ts', 'export const cleanUp = async () => {};', /^clean-up\.ts must export a function answerOnce, /],
    ['ends.ts', 'process.exit(0);', /^ends\.ts can't be loaded: it ends its process while it is loaded/],
    [
      'throws.ts',
      'export const answerOnce = async () => { throw new TypeError("mine"); };',
      /^answerOnce\(\) fails: TypeError: mine\.$/,
    ],
    [
      'rejects.ts',
      'export const answerOnce = async ({ work }: any) => { void Promise.reject(new Error("mine")); return work(); };',
      /^There is an error that nobody catches: Error: mine\.$/,
    ],
    [
      'exits.ts',
      'export const answerOnce = async () => process.exit(3);',
      /^node-\d ended with exit code 3: does your file call/,
    ],
    [
      'computes.ts',
      'export const answerOnce = async () => { for (;;); };',
      /^node-\d no longer answers anybody: your file computes/,
    ],
  ])('%s', async (name, source, why) => {
    const file = join(dir, name);
    writeFileSync(file, source);

    const { verdicts, steps } = await play(exercise, file);

    expect(verdicts).toEqual([
      { drill: exercise.settings.drills[0], verdict: 'fail', reason: expect.stringMatching(why), witnesses: [] },
    ]);
    expect(steps.filter((step) => /^node-\d prints: /.test(step))).toEqual([]);
  });

  test('what the file prints is told', async () => {
    const file = join(dir, 'prints.ts');
    writeFileSync(
      file,
      'export const answerOnce = async ({ work }: any) => { console.log("it is called"); return work(); };',
    );

    const { verdicts, steps } = await play(exercise, file);

    expect(steps).toContain('node-1 prints: it is called');
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['fail']);
  });

  test('a run that is stopped rejects as its signal says, and the next one is judged', async () => {
    const stopping = new AbortController();
    const stopped = servers.run(exercise, {
      file: exercise.solution,
      signal: stopping.signal,
      onDrill: () => stopping.abort(new Error('stopped')),
      onVerdict() {},
      narrate() {},
    });

    await expect(stopped).rejects.toThrow('stopped');
    expect((await play(exercise, exercise.solution)).verdicts.map(({ verdict }) => verdict)).toEqual(['pass', 'pass']);
  });

  test('without a MariaDB it says what to install', async () => {
    vi.stubEnv('PATH', dir);
    const without = openOrderServers();
    try {
      const { verdicts } = await play(exercise, exercise.solution, without);

      expect(verdicts).toEqual([
        {
          drill: exercise.settings.drills[0],
          verdict: 'not-applicable',
          reason: expect.stringContaining('apt-get install mariadb-server'),
          witnesses: [],
        },
      ]);
    } finally {
      vi.unstubAllEnvs();
      await without.close();
    }
  });
});
