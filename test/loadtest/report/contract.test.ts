import { expect, test } from 'vitest';
import type { DrillResult, Grade, Results } from '../../../loadtest/evidence/results.ts';
import { html } from '../../../loadtest/report/escape.ts';
import { gradeLine, holdsAll } from '../../../loadtest/report/grades.ts';
import { renderMarkdown } from '../../../loadtest/report/markdown.ts';
import { renderPage } from '../../../loadtest/report/page.ts';
import { sampleResults } from './sample-results.ts';

const check = (
  drill: string,
  verdict: DrillResult['verdict'],
  reason: string,
  witnesses: string[] = [],
): DrillResult => ({
  drill,
  verdict,
  taught: null,
  reasons: [reason],
  witnesses,
  witnessCount: witnesses.length,
  stockOverTime: [],
  durationMs: 900,
});

const checks = [
  check('contract-enter', 'pass', 'One at a time is inside.'),
  check('contract-late-release', 'fail', 'The late DEL freed the lock of B.', ['0.012 s A enters', '0.020 s C enters']),
  check('contract-lost', 'not-applicable', 'It has no signal `lost`.'),
];

/** A graded lock that has been through the contract, and through the drills when they are not left out. */
const graded = (drills: DrillResult[] = []) =>
  sampleResults((results) => {
    results.stages = [{ stage: 'my-lock', lockVersion: null, drills: [...checks, ...drills] }];
    results.grades = [{ stage: 'my-lock', file: '/my-lock.ts' }];
  });

/** None is drawn. */
const noChart = () => html``;

const drill = check('nested-call', 'pass', 'It holds.');
const lineOf = (results: Results) => gradeLine({ stage: 'my-lock', file: '/my-lock.ts' }, results);

test('the line of a grade counts checks and drills, each by their name', () => {
  expect(lineOf(graded([drill]))).toBe(
    'my-lock: 1 of 2 checks and 1 of 1 drills hold; it fails contract-late-release.',
  );
  expect(lineOf(graded())).toBe('my-lock: 1 of 2 checks hold; it fails contract-late-release.');
});

test('a check that fails is a grade that does not hold', () => {
  const onlyChecks = graded();
  const sound = graded();
  sound.stages[0]?.drills.splice(1, 1);

  expect(holdsAll(onlyChecks)).toBe(false);
  expect(holdsAll(sound)).toBe(true);
  const grades = [{ stage: 'my-lock', file: '/my-lock.ts', search: ['plain'] }];
  expect(holdsAll({ ...sound, grades })).toBe(false);
  expect(gradeLine(grades[0] as Grade, sound)).toMatch(/ hold; the search breaks it in plain\.$/);
});

test('the page: each check with its sentence and its steps, outside of the staircase', async () => {
  const page = await renderPage(graded([drill]), noChart);

  expect(page).toContain('<h2>The contract</h2>');
  expect(page).toContain('contract-late-release: fail');
  expect(page).toContain('does a late command of release() free the lock of another holder?');
  expect(page).toContain('The late DEL freed the lock of B.');
  expect(page).toContain('<li>0.020 s C enters</li>');
  expect(page).toContain('id="my-lock.contract-late-release"');
  const staircase = page.slice(page.indexOf('<table class="staircase'), page.indexOf('</table>'));
  expect(staircase).toContain('nested-call');
  expect(staircase).not.toContain('contract-');
  expect(page.match(/The late DEL freed/g)).toHaveLength(1);
});

test('the page: no section when no check was run', async () => {
  expect(await renderPage(sampleResults(), noChart)).not.toContain('The contract');
});

test('the text: a line for each check, and its steps under what fails', () => {
  const text = renderMarkdown(graded([drill]));

  expect(text).toContain('## The contract\n\n### my-lock\n\n- ✔ contract-enter: One at a time is inside.\n');
  expect(text).toContain(
    '- ✘ contract-late-release: The late DEL freed the lock of B.\n- contract-late-release, 0.012 s A enters\n',
  );
  expect(text).toContain('- – contract-lost: ');
  expect(text).not.toContain('### my-lock contract-late-release');
});

test('what a lock fails and does not promise has a mark of its own, and what it promises has not', async () => {
  const results = graded([check('nested-call', 'fail', 'It waits for itself.'), check('rush', 'fail', 'Two lost.')]);
  results.grades = [
    { stage: 'my-lock', file: '/my-lock.ts', doesNotPromise: { 'nested-call': 'It is not re-entrant.' } },
  ];
  const page = await renderPage(results, noChart);
  const cellOf = (name: string) => page.match(new RegExp(`<a href="#my-lock.${name}"\\s*><span[^>]*>([^<]*)`))?.[1];

  expect(cellOf('nested-call')).toBe('(✘\uFE0E)');
  expect(cellOf('rush')).toBe('✘\uFE0E');
  expect(page).toContain('it fails what it does not promise');
  expect(await renderPage(graded([drill]), noChart)).not.toContain('(✘');
});
