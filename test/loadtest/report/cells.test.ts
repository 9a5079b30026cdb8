import { expect, test } from 'vitest';
import type { DrillResult, RushFigures } from '../../../loadtest/evidence/results.ts';
import { keyFigure, leftOutInWords, sharesOf } from '../../../loadtest/report/cells.ts';
import { cellOf, sampleResults } from './sample-results.ts';

// The label of a cell shows the figure that decided about it.

const held = cellOf(sampleResults(), '4-ttl', 'rush');

test.each<[string, DrillResult['verdict'], Partial<RushFigures>, string]>([
  ['holds', 'pass', {}, '0 sold twice'],
  ['holds, and refuses sales', 'pass', { lockTimeout: 155 }, '0 sold twice, 155 refused'],
  ['is free for too long', 'fail', { lockTimeout: 276, longestFreeMs: 4_200 }, 'free for 4.2 s, 276 refused'],
  ['loses sales', 'fail', { lostUpdates: 742, overlaps: 800, longestFreeMs: 4_200 }, '742 sold twice'],
  ['two inside', 'fail', { overlaps: 1 }, '1 overlap'],
])('the label of a rush: %s', (_what, verdict, figures, label) => {
  expect(keyFigure({ ...held, verdict, figures: { ...held.figures, ...figures } as RushFigures })).toBe(label);
});

test('the shares of a rush: named where more than two nodes sell, those that sold nothing, too', () => {
  const soldBy = (soldByNode: RushFigures['soldByNode']) =>
    sharesOf({ ...held, figures: { ...held.figures, soldByNode } as RushFigures });

  expect(soldBy({ 'node-1': 1_000, 'node-2': 0, 'node-3': 7 })).toBe('sold by node-1: 1,000, node-2: 0, node-3: 7');
  expect(soldBy({ 'node-1': 3, 'node-2': 4 })).toBeUndefined();
});

test('what was left out is told row by row: few drills by their names, many by their number', () => {
  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((drill) => `4-ttl ${drill}`);

  expect(leftOutInWords(['3-spin rush', ...many, '8-auto-renew rush', '8-auto-renew failover'])).toBe(
    '3-spin (rush), 4-ttl (6 drills), 8-auto-renew (rush, failover)',
  );
});
