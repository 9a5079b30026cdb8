import { expect, test } from 'vitest';
import { readStory } from '../../../loadtest/report/story.ts';
import { staircases } from '../../../loadtest/staircase/lookup.ts';
import { storiesInChinese } from '../../../loadtest/staircase/stories.zh.ts';

const rows = staircases.flatMap(({ rows }) => Object.keys(rows));
const lines = new Set(rows.flatMap((row) => Object.values(readStory(row) ?? {})));

test('each line that opens the file of a row has its Chinese, and there is none for a line that has changed or is gone', () => {
  expect([...lines].filter((line) => storiesInChinese[line] === undefined)).toEqual([]);
  expect(Object.keys(storiesInChinese).filter((line) => !lines.has(line))).toEqual([]);
  expect(Object.values(storiesInChinese).filter((line) => !/\p{sc=Han}.*。$/u.test(line))).toEqual([]);
});
