import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Exercise,
  exerciseNames,
  exercisesDir,
  readExercise,
  readExercises,
} from '../../exercises/workshop/exercise.ts';
import { projectDir } from '../../scripts/stack/parts.ts';

const read = (file: string) => readFileSync(file, 'utf8');

describe('exercises: each folder', () => {
  const exercises = readExercises();

  test('there are some, and each has a number of its own', () => {
    expect(exercises.length).toBeGreaterThan(0);
    expect(new Set(exercises.map(({ number }) => number)).size).toBe(exercises.length);
  });

  test.each(exercises)('$name: the file is as it was before anybody changed it', ({ name, file, original }) => {
    const how = `put it back with: npm run workshop -- reset ${name.slice(0, 2)}`;
    expect(read(file) === read(original) ? 'as it was' : how).toBe('as it was');
  });

  test.each(exercises)('$name: the solution differs from the file in a few lines', ({ original, solution }) => {
    const lines = new Set(read(original).split('\n'));
    const added = read(solution)
      .split('\n')
      .filter((line) => !lines.has(line));

    expect(added.length).toBeGreaterThan(0);
    expect(added.length).toBeLessThanOrEqual(24);
  });

  test.each(exercises)('$name: the pages that say more are there', ({ settings }) => {
    expect(settings.more.filter((page) => !existsSync(join(projectDir, page)))).toEqual([]);
  });

  test.each(exercises)('$name: the README says what is wrong in a few lines', ({ text }) => {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(lines.length).toBeLessThanOrEqual(24);
  });
});

describe('exercises: what a folder may not be', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  /** A copy of the first exercise, with a text replaced in one of its files. */
  function changed(file: string, from: string | RegExp, to: string): () => Exercise {
    const [name = ''] = exerciseNames();
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-exercise-'));
    folders.push(folder);
    cpSync(join(exercisesDir, name), join(folder, name), { recursive: true });
    cpSync(join(exercisesDir, 'originals'), join(folder, 'originals'), { recursive: true });
    const place = join(folder, name, file);
    const text = read(place);
    writeFileSync(
      place,
      text.replace(from, () => to),
    );
    expect(read(place)).not.toBe(text);
    return () => readExercise(name, folder);
  }

  test.each([
    ['a README without a title', 'README.md', '# ', '## ', /README\.md must begin with "# "/],
    ['a prediction that is no JSON', 'predict.json', '{', '', /predict\.json is no JSON/],
    [
      'two right answers',
      'predict.json',
      /"because": "[^"]*"/,
      '"isRight": true',
      /predict\.json .*: one answer is right/,
    ],
    ['a wrong answer that says nothing', 'predict.json', /,\s*"because": "[^"]*"/, '', /a wrong answer says why/],
    ['a setting of which nothing is known', 'exercise.json', '"drills"', '"more": 1, "drills"', /more/],
    ['a scope that does not exist', 'exercise.json', '"plain"', '"plan"', /search\.scopes/],
    ['a drill that does not exist', 'exercise.json', /"drills": \["[^"]*"/, '"drills": ["rash"', /drills\.0/],
    [
      'a failure in a scope that is not looked at',
      'exercise.json',
      /"scope": "[^"]*"/,
      '"scope": "late-write"',
      /one of the scopes/,
    ],
    ['a failure without a reason', 'exercise.json', /"reason": "[^"]*",?/, '', /go together|fails/],
    ['no page that says more', 'exercise.json', /"more": \[[^\]]*\]/, '"more": []', /more/],
    ['a track without its stage', 'exercise.json', /"stage": "[^"]*",/, '', /the track "build" has a stage/],
    [
      'a judge without its search',
      'exercise.json',
      '"judge": "search"',
      '"judge": "orders"',
      /the judge "search" has a search/,
    ],
    ['two hints', 'hints.md', '## 3', '', /hints\.md must have a text below each/],
    ['a hint without a text', 'hints.md', /(?<=## 1\n)[^#]*/, '\n', /hints\.md must have a text below each/],
  ])('%s', (_what, file, from, to, message) => {
    expect(changed(file, from, to)).toThrow(message);
  });

  test('a folder without a solution, or without its original', () => {
    const [name = ''] = exerciseNames();
    const read = changed('README.md', '# ', '# The ');
    const folder = folders.at(-1) as string;

    expect(read().title).toMatch(/^The /);
    rmSync(join(folder, name, 'solution.ts'));
    expect(read).toThrow(`${name} lacks its ${name}/solution.ts.`);
    cpSync(join(exercisesDir, name, 'solution.ts'), join(folder, name, 'solution.ts'));
    rmSync(join(folder, 'originals', `${name}.ts`));
    expect(read).toThrow(`${name} lacks its originals/${name}.ts.`);
  });
});
