import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, formatMeasure, formatNumber } from '../../../loadtest/evidence/numbers.ts';
import { stockScale } from '../../../loadtest/report/charts.ts';

test('the axis of a stock holds every value and is marked at round numbers', () => {
  expect(stockScale([0, 3_000, 4_960])).toEqual({ min: 0, max: 5_000, interval: 2_500 });
  expect(stockScale([0, -1_000, 0])).toEqual({ min: -1_000, max: 0, interval: 500 });
  expect(stockScale([0, 0])).toEqual({ min: 0, max: 1, interval: 1 });
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1e7, max: 1e7 }), { minLength: 1 }), (values) => {
      const { min, max, interval } = stockScale(values);
      expect(min).toBeLessThanOrEqual(Math.min(...values));
      expect(max).toBeGreaterThanOrEqual(Math.max(...values));
      expect(Number.isInteger(interval)).toBe(true);
      expect((max - min) / interval).toBeLessThanOrEqual(3);
    }),
    { seed: 1, numRuns: 200 },
  );
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
