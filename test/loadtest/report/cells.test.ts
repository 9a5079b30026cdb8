import { expect, test } from 'vitest';
import type { DrillResult, RushFigures } from '../../../loadtest/evidence/results.ts';
import { keyFigure, partsOf, ranStaircases } from '../../../loadtest/report/cells.ts';
import { cellOf, sampleResults, sampleWithSteps } from './sample-results.ts';

// The label of a cell shows the figure that decided about it.

const held = cellOf(sampleResults(), '4-ttl', 'rush');

test.each<[string, DrillResult['verdict'], Partial<RushFigures>, string]>([
  ['holds', 'pass', {}, '0 lost'],
  ['holds, and refuses sales', 'pass', { lockTimeout: 155 }, '0 lost, 155 refused'],
  ['is free for too long', 'fail', { lockTimeout: 276, longestFreeMs: 4_200 }, 'free for 4.2 s, 276 refused'],
  ['loses sales', 'fail', { lostUpdates: 742, overlaps: 800, longestFreeMs: 4_200 }, '742 lost'],
  ['two inside', 'fail', { overlaps: 1 }, '1 overlap'],
])('the label of a rush: %s', (_what, verdict, figures, label) => {
  expect(keyFigure({ ...held, verdict, figures: { ...held.figures, ...figures } as RushFigures })).toBe(label);
});

const gone = { emptyMs: 114, stillWaiting: 0, soldToNobody: 0, nextSaleMs: 3 };
const outage = { lostUpdates: 0, cutOff: 0, slowestMs: 700, limitMs: 2_000, backMs: 37 };
const frozen = { unsold: 0, costMs: 3, limitMs: 300, lostUpdates: 0, overlaps: 0 };

test.each<[string, DrillResult['verdict'], Record<string, number>, string]>([
  ['client-gone', 'pass', gone, '114 ms'],
  ['client-gone', 'fail', { ...gone, soldToNobody: 3, nextSaleMs: 5_001 }, '3 to nobody'],
  ['nested-call', 'fail', { answeredMs: 341, overlaps: 1 }, '1 overlap'],
  ['late-release', 'fail', { otherKeys: 1 }, 'another key'],
  ['redis-outage', 'pass', outage, 'back in 37 ms'],
  ['redis-outage', 'fail', { ...outage, slowestMs: 2_400 }, 'answer in 2.4 s'],
  ['frozen-master', 'fail', { ...frozen, unsold: 4 }, '4 not sold'],
])('the label of %s, %s, %o: %s', (drill, verdict, figures, label) => {
  expect(keyFigure({ ...held, drill, verdict, figures })).toBe(label);
});

test('a staircase of many drills is shown in groups, each with its own cells', () => {
  const [ran] = ranStaircases(sampleWithSteps());
  const parts = ran === undefined ? [] : partsOf(ran);

  expect(parts.map(({ group, rows }) => [group, ...(rows[0]?.cells.map(({ drill }) => drill) ?? [])])).toEqual([
    ['Safety', 'one-node-rush', 'rush', 'sell-out', 'slow-holder', 'paused-process'],
    ['Liveness', 'crashed-holder'],
  ]);
});
