import { expect, test } from 'vitest';
import type { DrillResult, Grade } from '../../../loadtest/evidence/results.ts';
import { holdsAll } from '../../../loadtest/report/grades.ts';
import { renderTables } from '../../../loadtest/report/markdown.ts';
import { sampleResults } from './sample-results.ts';

const cell = (drill: string, verdict: DrillResult['verdict'], reason = '', witnesses: string[] = []): DrillResult => ({
  ...{ drill, verdict, taught: null, reasons: [reason], witnesses, witnessCount: witnesses.length },
  ...{ stockOverTime: [], durationMs: 900 },
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

test.each([
  ['every drill that applies holds', graded([rush, cell('failover', 'not-applicable')]), true],
  ['a check fails', graded([enters, late, rush]), false],
  ['of one nothing is known', graded([rush, cell('failover', 'unknown')]), false],
  ['none applies', graded([cell('failover', 'not-applicable')]), false],
  ['one was left out', graded([rush], {}, ['mine failover']), false],
  ['it can’t be graded', graded([rush], { problem: 'there is no such file' }), false],
  ['the search breaks it', graded([rush], { search: ['plain'] }), false],
  ['the search came to no end', graded([rush], { search: [], searchUnknown: ['plain'] }), false],
])('grades: %s', (_what, results, holds) => {
  expect(holdsAll(results)).toBe(holds);
});

test('--markdown: the locks that were graded are a table with their run and its day, and nothing else', () => {
  const results = graded([enters, late, cell('nested-call', 'fail'), cell('failover', 'unknown'), rush], {
    doesNotPromise: { 'nested-call': 'It is not re-entrant.' },
  });
  const [head, rule, row, ...below] = renderTables(results).split('\n');

  expect([head, row].map((line) => line?.split('|').map((text) => text.trim()))).toEqual([
    ['', 'lock', 'holds', 'fails what it promises', 'fails what it does not promise', 'unknown', ''],
    ['', 'mine', '1 of 2 checks and 1 of 3 drills', 'contract-late-release', 'nested-call', 'failover', ''],
  ]);
  expect(rule).toMatch(/^[|-]+$/);
  expect(below).toEqual(['', '_From `npm start` on 21 November 2026._', '']);
});
