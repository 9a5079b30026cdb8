import { expect, test } from 'vitest';
import { type Exercise, readExercises } from '../../../workshop/exercises/exercise.ts';
import { fileOfAttempt, lookAt, readAttempts } from './attempted.ts';

const exercises = readExercises().filter(({ settings }) => settings.search !== undefined);
const attempts = readAttempts().flatMap(({ name, what, ...attempt }) => {
  const exercise = exercises.find((one) => one.name === name);
  return exercise === undefined ? [] : [{ name, what, exercise, attempt: { name, what, ...attempt } }];
});

test('exercises: there is a wrong attempt at each that the search judges', () => {
  expect(attempts.map(({ name }) => name)).toEqual(exercises.map(({ name }) => name));
});

/** It takes seconds: test/soak/prove has it. */
const LONG = 'zombie-renewal';
const broken = exercises.filter(({ settings }) => settings.fails.scope !== LONG);

test.each(broken)('$name: before anybody changes it, it fails for the reason that it names', async (exercise) => {
  const { scope, reason } = exercise.settings.fails;
  // Where a drill shows it, the search holds.
  const expected =
    scope === undefined ? { verdict: 'holds' } : { verdict: 'fails', reason: expect.stringContaining(reason) };

  for (const cell of await lookAt(exercise, exercise.original, scope === undefined ? undefined : [scope]))
    expect(cell).toMatchObject({ ...expected, cut: 0 });
});

test.each(exercises)('$name: solved, it holds where it failed', async ({ settings, ...exercise }: Exercise) => {
  const { scope = settings.search?.scopes[0] } = settings.fails;
  const cells = await lookAt({ settings, ...exercise }, exercise.solution, scope === LONG ? [] : [scope ?? '']);

  expect(cells.filter(({ verdict, cut }) => verdict !== 'holds' || cut > 0)).toEqual([]);
});

test.each(attempts)('$name: one that $what is caught', async ({ exercise, attempt }) => {
  const { fails, reason } = attempt;
  expect(exercise.settings.search?.scopes).toContain(fails);

  const [found] = await lookAt(exercise, fileOfAttempt(exercise, attempt), [fails]);

  expect(found).toMatchObject({ scope: fails, verdict: 'fails', reason: expect.stringContaining(reason) });
});
