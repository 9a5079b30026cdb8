import { expect, test } from 'vitest';
import type { DrillResult, Grade } from '../../../loadtest/evidence/results.ts';
import { notPromisedBy } from '../../../loadtest/grade/not-promised.ts';
import { answerOf, worstOf } from '../../../loadtest/report/grades.ts';
import { renderTables } from '../../../loadtest/report/markdown.ts';
import { renderPage } from '../../../loadtest/report/page.ts';
import { answerLines } from '../../../loadtest/run/narrator.ts';
import { promisesOfOurs } from '../../../loadtest/staircase/conformance.ts';
import { lockStaircase } from '../../../loadtest/staircase/lock-stages.ts';
import { verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { sampleResults } from './sample-results.ts';

const cell = (drill: string, verdict: DrillResult['verdict'], reason = '', evidence: string[] = []): DrillResult => ({
  ...{ drill, verdict, expected: null, reasons: [reason], evidence, evidenceCount: evidence.length },
  durationMs: 900,
});
/** A run of one graded lock, whose checks and drills came out so. */
const graded = (drills: DrillResult[], grade: Partial<Grade> = {}, leftOut: string[] = []) =>
  sampleResults((results) => {
    results.stages = [{ stage: 'mine', lockVersion: null, drills }];
    results.grades = [{ stage: 'mine', file: '/mine.ts', ...grade }];
    results.leftOut = leftOut;
  });

const enters = cell('contract-enter', 'pass', 'One at a time is inside.');
const late = cell('contract-late-release', 'fail', 'The late DEL freed the lock of B.', ['0.012 s A enters']);
const rush = cell('rush', 'pass');

const inSearch = (...verdicts: ('holds' | 'fails' | 'unknown')[]) => ({
  search: verdicts.map((verdict, at) => ({
    ...{ scope: ['nested-object', 'plain', 'failover'][at] ?? '', verdict, reason: 'A waits for its own lock.' },
    ...{ under: 'no fault', steps: ['1. A begins'] },
  })),
});
const beyond = { doesNotPromise: { 'nested-object': 'It promises no re-entry.', 'long-sale': 'It does not renew.' } };
const longHold = cell('contract-long-hold', 'pass');
const longSale = cell('long-sale', 'fail', 'Two were inside.');

test.each([
  [
    'every drill that applies holds',
    graded([rush, cell('failover', 'not-applicable')]),
    'holds',
    /: 1 of 1 drills hold\.$/,
  ],
  ['a check fails', graded([rush, enters, late]), 'broken', /^mine is broken: The late DEL freed/],
  [
    'of one nothing is known',
    graded([rush, cell('failover', 'unknown', 'It died.')]),
    'unknown',
    /failover could not be run to its end\. It died\.$/,
  ],
  ['none applies', graded([cell('failover', 'not-applicable')]), 'unknown', /nothing applies/],
  ['one was left out', graded([rush], {}, ['mine failover']), 'unknown', /failover/],
  ['it can’t be graded', graded([], { problem: 'there is no such file' }), 'unknown', /no such file/],
  ['the search breaks it', graded([rush], inSearch('fails')), 'broken', /A waits for its own lock/],
  [
    'the search breaks what it does not promise',
    graded([rush], { ...inSearch('fails'), ...beyond }),
    'holds',
    /1 of 1/,
  ],
  ['the search came to no end', graded([rush], inSearch('unknown')), 'holds', /: 1 of 1 drills hold\.$/],
  ['all that is known is that the search came to no end', graded([], inSearch('unknown')), 'unknown', /nothing/],
  [
    'it can’t be simulated',
    graded(
      [
        cell('contract-enter', 'unknown', 'It uses a Worker.'),
        cell('rush', 'unknown'),
        cell('long-wait', 'not-applicable'),
      ],
      inSearch('unknown'),
    ),
    'unknown',
    /^mine can't be simulated\. It uses a Worker\. Play the drills on real servers: --real\.$/,
  ],
  [
    'it can’t be simulated, and its drills were played on real servers',
    graded([cell('contract-enter', 'unknown', 'It uses a Worker.'), rush], inSearch('unknown')),
    'unknown',
    /^mine can't be simulated\. It uses a Worker\. On real servers 1 of 1 drills hold\.$/,
  ],
  ['it fails what it does not promise', graded([rush, longSale], beyond), 'holds', /1 of 1/],
  ['it was seen to do what it does not promise', graded([longHold, longSale], beyond), 'broken', /Two were inside/],
])('grades: %s', (_what, results, verdict, sentence) => {
  const [grade] = results.grades ?? [];
  const answer = answerOf(grade as Grade, results);

  expect(answer).toMatchObject({ verdict, sentence: expect.stringMatching(sentence) });
  expect(answerLines(answer)[0]).toBe(answer.sentence);
});

test.each([
  [inSearch('holds', 'holds'), 'Searched: every interleaving of a few processes, in 2 of 2 scopes.'],
  [
    inSearch('unknown', 'holds', 'unknown'),
    'Searched: every interleaving of a few processes, in 1 of 3 scopes. Not to the end: nested-object and failover: A waits for its own lock.',
  ],
  [inSearch('unknown', 'unknown'), 'Not searched. A waits for its own lock.'],
  [{}, 'Not searched.'],
])('grades: why something was not searched is said once %#', (grade, said) => {
  const results = graded([rush], grade);
  const answer = answerOf(results.grades?.[0] as Grade, results);

  expect(answerLines(answer).filter((line) => line.includes('earched'))).toEqual([said]);
});

test('grades: whoever requires the search learns that it came to no end', () => {
  const results = graded([rush], inSearch('holds', 'unknown'));
  const [grade] = results.grades ?? [];

  expect(answerOf(grade as Grade, results, true)).toMatchObject({
    verdict: 'unknown',
    sentence: expect.stringMatching(/^mine is not known: plain /),
  });
});

test.each([
  ['rush', 'On real servers'],
  ['seeded-orders', 'In simulated time'],
])('of a run on real servers it says where a cell was played: %s', (name, under) => {
  const results = { ...graded([cell(name, 'pass')]), log: undefined };
  const [grade] = results.grades ?? [];

  expect(answerOf(grade as Grade, results)).toMatchObject({ holds: [{ name, under }] });
});

test.each([
  ['as it is expected', cell('rush', 'pass'), 'holds'],
  ['otherwise', cell('rush', 'fail'), 'unknown'],
  ['so that nobody knows', cell('rush', 'unknown'), 'unknown'],
])('a lock that holds beside a baseline that came out %s', (_what, drill, verdict) => {
  const results = graded([rush]);
  results.stages.push({ stage: '8-auto-renew', lockVersion: 8, drills: [{ ...drill, expected: 'pass' }] });
  const [grade] = results.grades ?? [];

  expect(worstOf([{ ...grade, answer: answerOf(grade as Grade, results) } as Grade], results)).toBe(verdict);
});

test('the table of graded locks: a row for each check, a column for each lock, ? for what was left out, and the day of the run', () => {
  const results = graded(
    [enters, late, cell('seeded-orders', 'not-applicable')],
    {
      doesNotPromise: { [late.drill]: 'No.' },
    },
    ['mine contract-quiet'],
  );
  for (const grade of results.grades ?? []) grade.answer = answerOf(grade, results);

  expect(renderTables(results).replace(/ +/g, ' ').split('\n')).toEqual([
    '| check | mine |',
    '|-------------------------|:----:|',
    '| `contract-enter` | ✔ |',
    '| `contract-late-release` | (✘) |',
    '| `contract-quiet` | ? |',
    '| `seeded-orders` | – |',
    '',
    '_From `npm start` on 21 November 2026, in simulated time, with Node 20.20.2._',
    '',
  ]);
});

test('the page shows what a lock that was seen to renew need not hold as its answer does, with the reason', () => {
  const results = graded([longHold, cell('hung-holder', 'fail', 'Nobody else came in.')]);
  for (const grade of results.grades ?? []) grade.answer = answerOf(grade, results);
  const [why] = results.grades?.flatMap(({ answer }) => answer?.notPromised ?? []) ?? [];

  expect(why?.name).toBe('hung-holder');
  expect(renderPage(results)).toMatch(
    new RegExp(`</b> hung-holder: fails, and it is not promised.*<p>${why?.says}</p>`, 's'),
  );
});

/** They renew. Under `fenced-writes` the service checks a token at writes alone; it checks the tokens of a stranger's lock at reads, too. */
const renewing = Object.entries(promisesOfOurs).filter(
  ([name, { renewal, permits }]) => renewal && permits === undefined && name !== 'fenced-writes',
);

test.each(renewing)(
  'graded as a stranger’s lock, %s is not called broken: it fails what it does not promise',
  (name, promises) => {
    const cells = Object.keys(lockStaircase.columns)
      .filter((drill) => !['given-lease', 'late-batch'].includes(drill))
      .flatMap((drill) => {
        const verdict = verdictExpected(name, drill);
        return verdict === null ? [] : [cell(drill, verdict, 'It was so.')];
      });
    // What its author has said: all of it, or only where it is kept.
    for (const said of [promises, { masters: promises.masters }]) {
      const results = graded([longHold, ...cells], { promises: said, doesNotPromise: notPromisedBy(said) });
      expect(answerOf(results.grades?.[0] as Grade, results).broken).toEqual([]);
    }
  },
);
