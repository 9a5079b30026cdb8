import { expect, test } from 'vitest';
import { cellsShownIn, withCounterexamples } from '../../loadtest/prove/chapters.ts';
import { proveCell } from '../../prove/cell.ts';
import { list, readText } from './project-files.ts';

const chapters = ['docs/stages', 'docs/beyond'].flatMap((folder) =>
  list(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);
const withOne = chapters.filter((file) => cellsShownIn(readText(file)).length > 0);
const prove = (text: string) => Promise.all(cellsShownIn(text).map((cell) => proveCell({ ...cell, seconds: 60 })));
const showing = (options: string) => `\`npm run prove -- ${options} --processes 2\`\n\n\`\`\`text\nold\n\`\`\`\n`;

test('counterexamples: every stage that an order of events breaks, and every strategy of Redis, shows one', () => {
  // What stage 2 leaves is memory: no order of events.
  const stages = chapters.filter((file) => file.startsWith('docs/stages/') && !file.includes('2-recursive-retry'));
  const beyond =
    'blocking bounded buckets cohort combine delete-if-equal fair fenced fenced-writes multi read-write redlock';

  expect(withOne.toSorted()).toEqual(
    [...stages, ...beyond.split(' ').map((name) => `docs/beyond/${name}.md`)].toSorted(),
  );
});

test.each(withOne)(
  '%s: its counterexample is the one that the search finds; if not: npm run prove -- --write',
  async (file) => {
    const chapter = readText(file);

    expect(withCounterexamples(chapter, await prove(chapter))).toBe(chapter);
  },
);

test('counterexamples: one that there is none of, and a lock that lives elsewhere, are refused', async () => {
  const cells = await prove(showing('--stage 6 --scope plain'));

  expect(() => withCounterexamples(showing('--stage 6 --scope plain'), cells)).toThrow(
    'shows a counterexample of 6 in plain, which has none',
  );
  expect(() => cellsShownIn(showing('--stage zookeeper --scope plain'))).toThrow('zookeeper');
});
