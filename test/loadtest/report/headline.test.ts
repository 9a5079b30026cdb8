import { expect, test } from 'vitest';
import type { DrillResult, Results } from '../../../loadtest/evidence/results.ts';
import { headlineOf } from '../../../loadtest/report/headline.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { cellOf, sampleResults, sampleWithSteps } from './sample-results.ts';

type Change = (results: Results) => void;
/** Those of these stages and, if one is named, of this drill alone. */
const only =
  (stages: string[], drill?: string): Change =>
  (results) => {
    results.stages = results.stages.filter(({ stage }) => stages.includes(stage));
    for (const row of results.stages)
      row.drills = row.drills.filter((each) => drill === undefined || each.drill === drill);
  };
const set =
  (stage: string, drill: string, change: Partial<DrillResult>): Change =>
  (results) =>
    Object.assign(cellOf(results, stage, drill), change);

test.each<[shape: string, changes: Change[], says: string]>([
  ['all stages', [], 'Without a lock 750 of 2,000 units were sold twice; from stage 2 on, none.'],
  ['one stage that fails', [only(['1-in-process'], 'rush')], 'Under stage 1 750 of 2,000 units were sold twice.'],
  [
    'one that fails, and one that holds',
    [only(['1-in-process', '2-recursive-retry'], 'rush')],
    'Under stage 1 750 of 2,000 units were sold twice; under stage 2, none.',
  ],
  [
    'nothing sold twice, and a drill that fails',
    [only(['4-ttl'])],
    'Under stage 4 none of 2,000 units was sold twice in the rush; 1 of 6 cells fail.',
  ],
  [
    'sell-out alone',
    [only(['1-in-process', '2-recursive-retry'], 'sell-out')],
    'Under stage 1 750 were sold beyond the 1,000 units in stock; under stage 2, none.',
  ],
  [
    'a cell that should hold',
    [set('4-ttl', 'rush', { ...cellOf(sampleResults(), '0-none', 'rush'), expected: 'pass' })],
    'Stage 4 fails rush, and should hold: 750 sold twice.',
  ],
  [
    'two cells that should fail',
    [set('0-none', 'rush', { verdict: 'pass' }), set('1-in-process', 'rush', { verdict: 'pass' })],
    'Stage 0 holds in rush, and should fail: 750 sold twice. 1 more cell is not as expected.',
  ],
  ['an unknown cell', [set('4-ttl', 'rush', { verdict: 'unknown' })], 'Rush under stage 4 is unknown.'],
  ['one drill', [only(['4-ttl'], 'slow-holder')], 'Stage 4 fails slow-holder: 3 sold twice.'],
  [
    'one drill under two stages',
    [only(['3-spin', '4-ttl'], 'crashed-holder')],
    'In crashed-holder stage 3 fails and stage 4 holds.',
  ],
  ['nothing', [only([])], 'No drill was run.'],
])('the headline of a run says what happened: %s', (_shape, changes, says) => {
  const results = sampleWithSteps((each) => {
    for (const change of changes) change(each);
    Object.assign(each, judgeRun(each.stages, []));
  });

  expect(headlineOf(results)).toBe(says);
});

test('the headline of a run that was cut short', () => {
  const leftOut = ['8-auto-renew failover'];
  const results = sampleResults((each) => Object.assign(each, { leftOut, ...judgeRun(each.stages, leftOut) }));

  expect(headlineOf(results)).toBe('The run was cut short: 27 of 28 cells ran.');
});
