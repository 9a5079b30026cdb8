import { expect, test } from 'vitest';
import { formatDuration, formatMeasure, formatNumber } from '../../../loadtest/evidence/numbers.ts';
import { stockScale } from '../../../loadtest/report/charts.ts';

test.each([
  [[0, 3_000, 4_960], { min: 0, max: 5_000, interval: 2_500 }],
  [[0, -1_000, 0], { min: -1_000, max: 0, interval: 500 }],
  [[0, 0], { min: 0, max: 1, interval: 1 }],
  [[-3, 8_000], { min: -5_000, max: 10_000, interval: 5_000 }],
])('the axis of a stock holds %j, and is marked at round numbers', (values, axis) => {
  expect(stockScale(values)).toEqual(axis);
});

test('numbers read as a teacher would write them', () => {
  expect([0, -0.2, 742, -1_000, 50_000].map(formatNumber)).toEqual(['0', '0', '742', '−1,000', '50,000']);
  expect([0, 1.04, 9.96, 99.96, 1_702.4].map(formatMeasure)).toEqual(['0.0', '1.0', '10.0', '100', '1,702']);
  expect([0, 1.24, 999.7, 1_702, 59_600, 185_000].map(formatDuration)).toEqual([
    '0 ms',
    '1.2 ms',
    '1 s',
    '1.7 s',
    '1 min',
    '3 min 5 s',
  ]);
});
