import { expect, test } from 'vitest';
import type { DrillResult, RushFigures } from '../../../loadtest/evidence/results.ts';
import { keyFigure, partsOf, ranStaircases } from '../../../loadtest/report/cells.ts';
import { cellOf, sampleResults, sampleWithSteps } from './sample-results.ts';

// The label of a cell shows the figure that decided about it.

const held = cellOf(sampleResults(), '4-ttl', 'rush');

test.each<[string, DrillResult['verdict'], Partial<RushFigures>, string]>([
  ['holds', 'pass', {}, '0 lost'],
  ['holds, and refuses sales', 'pass', { lockTimeout: 155 }, '0 lost, 155 refused'],
  ['sells out', 'pass', { soldOut: 1_000 }, '0 oversold'],
  ['is free for too long', 'fail', { lockTimeout: 276, longestFreeMs: 4_200 }, 'free for 4.2 s, 276 refused'],
  ['loses sales', 'fail', { lostUpdates: 742, overlaps: 800, longestFreeMs: 4_200 }, '742 lost'],
  ['two inside', 'fail', { overlaps: 1 }, '1 overlap'],
])('the label of a rush: %s', (_what, verdict, figures, label) => {
  expect(keyFigure({ ...held, verdict, figures: { ...held.figures, ...figures } as RushFigures })).toBe(label);
});

const gone = { emptyMs: 114, stillWaiting: 0, soldToNobody: 0, nextSaleMs: 3 };
const outage = { lostUpdates: 0, cutOff: 0, slowestMs: 700, limitMs: 2_000, backMs: 37 };
const frozen = { unsold: 0, costMs: 3, limitMs: 300, lostUpdates: 0, overlaps: 0 };
const { backMs, ...notBack } = outage;

test.each<[string, DrillResult['verdict'], Record<string, number>, string]>([
  ['client-gone', 'pass', gone, '114 ms'],
  ['client-gone', 'fail', { ...gone, nextSaleMs: 5_001 }, 'next in 5 s'],
  ['client-gone', 'fail', { ...gone, soldToNobody: 3, nextSaleMs: 5_001 }, '3 to nobody'],
  ['client-gone', 'fail', { ...gone, emptyMs: 1_010, stillWaiting: 200 }, '200 still wait'],
  ['nested-call', 'pass', { answeredMs: 341, overlaps: 0 }, '341 ms'],
  ['nested-call', 'fail', { answeredMs: 341, overlaps: 1 }, '1 overlap'],
  ['late-release', 'fail', { otherKeys: 1 }, 'another key'],
  ['late-release', 'fail', { overlaps: 1, keptOutMs: 2_500 }, '1 overlap'],
  ['redis-outage', 'pass', outage, `back in ${backMs} ms`],
  ['redis-outage', 'fail', { ...outage, slowestMs: 2_400 }, 'answer in 2.4 s'],
  ['redis-outage', 'fail', { ...outage, cutOff: 7 }, '7 cut off'],
  ['redis-outage', 'fail', notBack, 'not back'],
  ['frozen-master', 'fail', { ...frozen, unsold: 4 }, '4 not sold'],
  ['frozen-master', 'fail', { ...frozen, lostUpdates: 2 }, '2 lost'],
  ['frozen-master', 'pass', frozen, '3 ms more'],
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
