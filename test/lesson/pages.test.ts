// What is made from recorded figures, from the sources, or by the search, stands in the pages as it would be made now.

import { applyPatch } from 'diff';
import { expect, test } from 'vitest';
import { verdictsSchema } from '../../loadtest/evidence/verdicts.ts';
import { figureDocuments, withFigures } from '../../loadtest/figures/documents.ts';
import { readRecord } from '../../loadtest/figures/record.ts';
import { peerNames, versionOfPeer } from '../../loadtest/peers/peer.ts';
import { cellsShownIn, withCounterexamples } from '../../loadtest/prove/chapters.ts';
import { verdictPage } from '../../loadtest/verdicts/page.ts';
import { indexPage, withShortTable } from '../../loadtest/verdicts/tables.ts';
import { proveCell } from '../../prove/cell.ts';
import { stageDiff, wanted, withDiff } from '../../scripts/diff.ts';
import { withQuestions } from '../../scripts/questions.ts';
import { list, readText, stages } from './project-files.ts';

const figures = readRecord();
const documents = figureDocuments();
const verdicts = verdictsSchema.parse(JSON.parse(readText('docs/measured/verdicts.json')));
const pageOf = (stage: string) => `docs/stages/${stage}.md`;

/** Each page with what it must be, and the command that makes it so. */
const made: { command: string; pages: [file: string, make: (text: string) => string][] }[] = [
  {
    command: 'npm run figures -- --page',
    pages: documents.map((file) => [file, (text) => withFigures(text, figures, file)]),
  },
  {
    command: 'npm run verdicts -- --pages',
    pages: [
      ...verdicts.locks.map((lock): [string, () => string] => [
        `docs/verdicts/${lock.name}.md`,
        () => verdictPage(lock),
      ]),
      ['docs/verdicts/README.md', () => indexPage(verdicts)],
      ['docs/choosing.md', (text) => withShortTable(text, verdicts, 'verdicts')],
    ],
  },
  {
    command: 'npm run diff -- --write',
    pages: stages.slice(1).map((stage) => {
      const diff = stageDiff(stages.indexOf(stage));
      return [pageOf(stage), (text) => withQuestions(withDiff(text, diff))];
    }),
  },
];

test.each(made)('pages: up to date; if not: $command', ({ pages }) => {
  for (const [file, make] of pages) expect(readText(file), file).toBe(make(readText(file)));
});

const prove = (text: string) => Promise.all(cellsShownIn(text).map((cell) => proveCell({ ...cell, seconds: 60 })));
const withOne = ['docs/stages', 'docs/beyond']
  .flatMap((folder) => list(folder).map((name) => `${folder}/${name}`))
  .filter((file) => file.endsWith('.md') && cellsShownIn(readText(file)).length > 0);

test.each(withOne)('%s: its counterexample is that of the search; if not: npm run prove -- --write', async (file) => {
  const chapter = readText(file);

  expect(withCounterexamples(chapter, await prove(chapter))).toBe(chapter);
});

test('verdicts: each published lock has one, of the version that is installed, with the address of each promise', () => {
  expect(verdicts.locks.map(({ name }) => name)).toEqual(peerNames);
  for (const lock of verdicts.locks) {
    expect(lock.version).toBe(versionOfPeer(lock.name));
    for (const { source } of lock.claims) expect(source).toContain(lock.version);
  }
});

test('diff: it turns the stage before into this one; a chapter has one place for it; a command names one stage', () => {
  for (const [at, stage] of stages.entries()) {
    if (at === 0) continue;
    expect(applyPatch(readText(`locks/${stages[at - 1]}.ts`), stageDiff(at))).toBe(readText(`locks/${stage}.ts`));
  }
  const updated = withDiff('# Title\n\n```diff\nold $1\n```\n\n```ts\ncode\n```\n', '+new $& $1\n');

  expect(updated).toBe('# Title\n\n```diff\n+new $& $1\n```\n\n```ts\ncode\n```\n');
  expect(() => withDiff('# Title\n', '+new\n')).toThrow('has 0 diff blocks');
  expect(() => withDiff('```diff\n```\n\n```diff\n```\n', '+new\n')).toThrow('has 2 diff blocks');
  expect([['4'], ['8-auto-renew'], ['--write']].map(wanted)).toEqual([4, 8, 'write']);
  const wrong = [[], ['0'], ['9'], ['0-none'], ['04'], ['__proto__'], ['4', '5'], ['--write', '4']];
  expect(wrong.map(wanted)).toEqual(wrong.map(() => undefined));
});

test('docs/drills.md: the scenario that it shows whole is the file', () => {
  expect(readText('docs/drills.md')).toContain(`\`\`\`text\n${readText('loadtest/scenarios/late-release.txt')}\`\`\``);
});
