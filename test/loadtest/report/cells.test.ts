import { describe, expect, test } from 'vitest';
import type { DrillResult, RushFigures } from '../../../loadtest/evidence/results.ts';
import { keyFigure } from '../../../loadtest/report/cells.ts';

// The label of a cell shows the figure that decided about it.

const result = (drill: string, verdict: DrillResult['verdict'], figures: DrillResult['figures']): DrillResult => ({
  drill,
  verdict,
  taught: null,
  reasons: [],
  figures,
  witnesses: [],
  witnessCount: 0,
  stockOverTime: [],
  durationMs: 1,
});

const rush: RushFigures = {
  sent: 2_000,
  answers: 2_000,
  errors: 0,
  received: 2_000,
  sold: 2_000,
  soldOut: 0,
  lockTimeout: 0,
  failed: 0,
  inDoubt: 0,
  initialStock: 5_000,
  expectedStock: 3_000,
  finalStock: 3_000,
  lostUpdates: 0,
  oversold: 0,
  overlaps: 0,
  longestFreeMs: 20,
  throughput: 800,
  soldByNode: {},
};

describe('the label of a rush', () => {
  test.each<[string, DrillResult['verdict'], Partial<RushFigures>, string]>([
    ['holds', 'pass', {}, '0 lost'],
    ['holds, and refuses sales', 'pass', { lockTimeout: 155 }, '0 lost, 155 refused'],
    ['sells out', 'pass', { soldOut: 1_000 }, '0 oversold'],
    ['is free for too long', 'fail', { lockTimeout: 276, longestFreeMs: 4_200 }, 'free for 4.2 s, 276 refused'],
    ['loses sales', 'fail', { lostUpdates: 742, overlaps: 800, longestFreeMs: 4_200 }, '742 lost'],
    ['two inside', 'fail', { overlaps: 1 }, '1 overlap'],
  ])('%s', (_what, verdict, figures, label) => {
    expect(keyFigure(result('rush', verdict, { ...rush, ...figures }))).toBe(label);
  });
});

describe('the label of a drill step by step', () => {
  test.each<[string, DrillResult['verdict'], Record<string, number>, string]>([
    ['client-gone', 'pass', { emptyMs: 114, stillWaiting: 0, soldToNobody: 0, nextSaleMs: 3 }, '114 ms'],
    ['client-gone', 'fail', { emptyMs: 114, stillWaiting: 0, soldToNobody: 0, nextSaleMs: 5_001 }, 'next in 5 s'],
    ['client-gone', 'fail', { emptyMs: 114, stillWaiting: 0, soldToNobody: 3, nextSaleMs: 5_001 }, '3 to nobody'],
    ['client-gone', 'fail', { emptyMs: 1_010, stillWaiting: 200, soldToNobody: 0, nextSaleMs: 3 }, '200 still wait'],
    ['nested-call', 'pass', { answeredMs: 341, overlaps: 0 }, '341 ms'],
    ['nested-call', 'fail', { answeredMs: 341, overlaps: 1 }, '1 overlap'],
    ['nested-call', 'fail', { answeredMs: 2_004 }, '2 s'],
    ['late-release', 'fail', { otherKeys: 1 }, 'another key'],
    ['late-release', 'fail', { overlaps: 1, keptOutMs: 2_500 }, '1 overlap'],
    [
      'redis-outage',
      'pass',
      { lostUpdates: 0, cutOff: 0, slowestMs: 700, limitMs: 2_000, backMs: 37 },
      'back in 37 ms',
    ],
    [
      'redis-outage',
      'fail',
      { lostUpdates: 0, cutOff: 0, slowestMs: 2_400, limitMs: 2_000, backMs: 37 },
      'answer in 2.4 s',
    ],
    ['redis-outage', 'fail', { lostUpdates: 0, cutOff: 7, slowestMs: 700, limitMs: 2_000, backMs: 37 }, '7 cut off'],
    ['redis-outage', 'fail', { lostUpdates: 0, cutOff: 0, slowestMs: 700, limitMs: 2_000 }, 'not back'],
    ['frozen-master', 'fail', { unsold: 4, costMs: 3, limitMs: 300, lostUpdates: 0, overlaps: 0 }, '4 not sold'],
    ['frozen-master', 'fail', { unsold: 0, costMs: 3, limitMs: 300, lostUpdates: 2, overlaps: 0 }, '2 lost'],
    ['frozen-master', 'pass', { unsold: 0, costMs: 3, limitMs: 300, lostUpdates: 0, overlaps: 0 }, '3 ms more'],
  ])('%s %s %o: %s', (drill, verdict, figures, label) => {
    expect(keyFigure(result(drill, verdict, figures))).toBe(label);
  });
});
