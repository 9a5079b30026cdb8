import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readExercises } from '../../../exercises/workshop/exercise.ts';
import { lessons } from '../../../live/page/view/lessons.ts';
import { inChinese } from '../../../live/page/view/sentences.ts';
import { type Both, texts } from '../../../live/page/view/texts.ts';
import { readPage } from '../../../loadtest/scenarios/page.ts';
import { columnOf } from '../../../loadtest/staircase/lookup.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';

const gaps = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

/** Every pair of texts in there. */
const pairsIn = (value: unknown): Both[] => {
  if (typeof value !== 'object' || value === null) return [];
  const items = Object.values(value);
  const isPair = Array.isArray(value) && items.length === 2 && items.every((item) => typeof item === 'string');
  return isPair ? [value as unknown as Both] : items.flatMap(pairsIn);
};

test('every text is there in both languages, with the same values in it', () => {
  for (const [english, chinese] of [...pairsIn(texts), ...pairsIn(lessons)]) {
    expect(gaps(chinese), english).toEqual(gaps(english));
    expect(chinese === '', english).toBe(english === '');
    if (english !== '' && english !== texts.language[0])
      expect(`${english} ${chinese}`).toMatch(/[A-Za-z→].*(\p{Script=Han}|English)/u);
  }
});

test('each exercise of the page, and what its scenarios ask, is there in Chinese', () => {
  const exercises = readExercises().filter(({ settings }) => settings.fails.scope !== undefined);
  const asks = exercises.flatMap(({ settings }) => settings.drills.map((drill) => columnOf(drill)?.asks ?? ''));
  const said = [...asks, ...exercises.map(({ title }) => title)];
  expect(said.filter((text) => inChinese(text) === undefined)).toEqual([]);
});

const pages = ['loadtest/scenarios', 'live/page'].flatMap((folder) =>
  readdirSync(join(projectDir, folder))
    .filter((file) => file.endsWith('.txt'))
    .map((file) => join(folder, file)),
);

test.each(pages)('%s: each of its sentences is there in Chinese', (file) => {
  const { steps } = readPage(readFileSync(join(projectDir, file), 'utf8'));
  const told = steps.filter(({ timing, playsEachRelease }) => !timing && !playsEachRelease);
  const lines = told.map(({ line }) => line.replace(/^> /, ''));

  expect(lines.filter((line) => inChinese(line) === undefined)).toEqual([]);
});
