import { expect, test } from 'vitest';
import { stockScale } from '../../../loadtest/report/charts.ts';

test.each([
  [[0, 3_000, 4_960], { min: 0, max: 5_000, interval: 2_500 }],
  [[0, -1_000, 0], { min: -1_000, max: 0, interval: 500 }],
  [[0, 0], { min: 0, max: 1, interval: 1 }],
  [[-3, 8_000], { min: -5_000, max: 10_000, interval: 5_000 }],
])('the axis of a stock holds %j, and is marked at round numbers', (values, axis) => {
  expect(stockScale(values)).toEqual(axis);
});
