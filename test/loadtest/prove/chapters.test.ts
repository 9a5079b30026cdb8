import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cellsShownIn, withCounterexamples } from '../../../loadtest/prove/chapters.ts';
import { proveCell } from '../../../prove/cell.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { readText } from '../../lesson/project-files.ts';

const chapters = ['docs/stages', 'docs/beyond'].flatMap((folder) =>
  readdirSync(`${projectDir}/${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);
const withOne = chapters.filter((file) => cellsShownIn(readText(file)).length > 0);
const prove = (text: string) => Promise.all(cellsShownIn(text).map((cell) => proveCell({ ...cell, seconds: 60 })));

test('every stage that an order of events breaks, and every strategy of Redis, shows a counterexample in its chapter', () => {
  // What stage 2 leaves is memory: no order of events.
  const stages = chapters.filter((file) => file.startsWith('docs/stages/') && !file.includes('2-recursive-retry'));
  const strategies = [
    ...[
      'blocking',
      'bounded',
      'buckets',
      'cohort',
      'combine',
      'delete-if-equal',
      'fair',
      'fenced',
      'fenced-writes',
      'multi',
      'read-write',
      'redlock',
    ],
  ];

  expect(withOne.toSorted()).toEqual([...stages, ...strategies.map((name) => `docs/beyond/${name}.md`)].toSorted());
});

test.each(withOne)('%s: its counterexample is the one that the search finds', async (file) => {
  const chapter = readText(file);

  expect(withCounterexamples(chapter, await prove(chapter))).toBe(chapter);
});

test('a chapter that shows a counterexample that there is none of is refused', async () => {
  const chapter = '`npm run prove -- --stage 6 --scope plain --processes 2`\n\n```text\nold\n```\n';

  const cells = await prove(chapter);

  expect(() => withCounterexamples(chapter, cells)).toThrow('shows a counterexample of 6 in plain, which has none');
});

test('a chapter that names a lock that lives elsewhere is refused', () => {
  const chapter = '`npm run prove -- --stage zookeeper --scope plain --processes 2`\n\n```text\nold\n```\n';

  expect(() => cellsShownIn(chapter)).toThrow('zookeeper');
});
