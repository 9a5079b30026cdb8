import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../../../stack/parts.ts';
import { provideFile, readExercise, readExercises } from '../../../workshop/exercises/exercise.ts';
import { ownExercises } from './own-exercises.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const exercises = readExercises();

test('exercises: there are some, each has a number of its own, and the pages that it names are there', () => {
  expect(exercises.length).toBeGreaterThan(0);
  expect(new Set(exercises.map(({ number }) => number)).size).toBe(exercises.length);
  const pages = exercises.flatMap(({ settings }) => settings.more);
  expect(pages.filter((page) => !existsSync(join(projectDir, page)))).toEqual([]);
});

test('an attendee works on a copy, which nothing writes over', () => {
  const { exercises } = ownExercises([1]);
  const [{ file, original }] = exercises;
  expect(read(file)).toBe(read(original));

  writeFileSync(file, 'mine');
  exercises.forEach(provideFile);

  expect(read(file)).toBe('mine');
});

/** An exercise with a text replaced in one of its files. */
function changed(file: string, from: string | RegExp, to: string) {
  const { folder, exercises } = ownExercises([1]);
  const place = join(folder, exercises[0].name, file);
  const text = read(place).replace(from, () => to);
  expect(read(place)).not.toBe(text);
  writeFileSync(place, text);
  return () => readExercise(exercises[0].name, folder);
}

test.each([
  [
    'two right answers',
    'predict.json',
    /"because": "[^"]*"/,
    '"isRight": true',
    /predict\.json .*one answer must be right/,
  ],
  ['a wrong answer that says nothing', 'predict.json', /,\s*"because": "[^"]*"/, '', /each of the others must say why/],
  ['a setting of which nothing is known', 'exercise.json', '"drills"', '"more": 1, "drills"', /more/],
  [
    'a failure that it does not look for',
    'exercise.json',
    '"scope": "plain"',
    '"scope": "long-sale"',
    /it must be one of the scopes/,
  ],
  ['two hints', 'hints.md', '## 3', '', /hints\.md must have a text under each/],
])('an exercise may not have %s', (_what, file, from, to, message) => {
  expect(changed(file, from, to)).toThrow(message);
});

test.each(['solution', 'original'] as const)('an exercise may not lack its %s', (file) => {
  const { folder, exercises } = ownExercises([12]);
  rmSync(exercises[0][file]);

  expect(() => readExercise(exercises[0].name, folder)).toThrow(`${exercises[0].name} has no `);
});
