import { describe, expect, test } from 'vitest';
import { agreementOf } from '../../../loadtest/bench/agreement.ts';

/** A run whose ratios have these medians. */
const run = (values: Record<string, number>) => ({
  ratios: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, min: 0, max: 9 }])),
});

describe('several runs', () => {
  test('agree on a ratio when the highest is at most a fifth above the lowest', () => {
    const runs = [run({ a: 0.5, b: 0.5 }), run({ a: 0.6, b: 0.61 }), run({ a: 0.55, b: 0.55 })];
    expect(agreementOf(runs)).toEqual([
      { name: 'a', values: [0.5, 0.6, 0.55], doAgree: true },
      { name: 'b', values: [0.5, 0.61, 0.55], doAgree: false },
    ]);
  });
});
