import { expect, test } from 'vitest';
import { figureDocuments, withFigures, withoutFigures } from '../../loadtest/figures/documents.ts';
import { readRecord } from '../../loadtest/figures/record.ts';
import { steps } from '../../loadtest/figures/steps.ts';
import { controlOf, controls, knownBugs } from '../known-bugs/bugs.ts';
import { faultsOf, renderPage, rowOf } from '../known-bugs/page.ts';
import { caughtBy, recordSchema } from '../known-bugs/record.ts';
import { readText } from './project-files.ts';

const record = readRecord();
const documents = figureDocuments();
/** A speed that somebody wrote by hand, or copied from a terminal. */
const WRITTEN =
  /\d sales\/s|│.*(sales\/s|per second)|\d (sales|acquisitions|sections) (a|per) second|\d Redis commands a sale/;
/** What explains how to read such a line, and measures nothing. */
const EXAMPLE = '1,164 sales/s · p50 38.3 ms, p99 131 ms · 1.6 Redis commands a sale';

test('figures: each in a page is as it was recorded; if not: npm run figures -- --page', () => {
  const files = documents.filter((file) => /<!-- \/?figures/.test(readText(file)));

  for (const file of files) expect(readText(file), file).toBe(withFigures(readText(file), record, file));
  for (const file of ['README.md', 'docs/choosing.md', 'docs/bench.md']) expect(files).toContain(file);
});

test('figures: none is written by hand: ask for it between comments, as CONTRIBUTING.md says', () => {
  const byHand = documents
    .filter((file) => !file.startsWith('docs/decisions/'))
    .flatMap((file) =>
      withoutFigures(readText(file))
        .split('\n')
        .filter((line) => WRITTEN.test(line) && line.trim() !== EXAMPLE)
        .map((line) => `${file}: ${line.trim()}`),
    );

  expect(byHand).toEqual([]);
});

test('figures: the record has no run that no step makes', () => {
  expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(record.runs)));
});

test('known bugs: the page is what was recorded; each bug is caught by what it names, and no lock without one', () => {
  const recorded = recordSchema.parse(JSON.parse(readText('docs/measured/known-bugs.json')));
  const missed = knownBugs.filter((bug) => {
    const caught = caughtBy(rowOf(recorded, bug.name), rowOf(recorded, controlOf(bug).name));
    return !Object.values(caught).flat().includes(bug.caughtBy);
  });

  expect(readText('docs/known-bugs.md'), 'npm run known-bugs -- --page').toBe(renderPage(recorded));
  expect(missed.map(({ name }) => name)).toEqual([]);
  expect(controls.flatMap(({ name }) => faultsOf(rowOf(recorded, name)))).toEqual([]);
});
