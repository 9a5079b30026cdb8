import { describe, expect, test } from 'vitest';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import { isUnknown, run, withNodes } from './own-target.ts';

const crossedSkus = scenario('crossed-skus');

/** Of the second sku another stock is read. */
const miscounted = (by: number) => (target: Target) =>
  withNodes(target, ({ stock }) => ({
    async stock(sku) {
      const units = await stock(sku);
      return units === undefined || sku === undefined || sku === '001' ? units : units + by;
    },
  }));

describe('crossed-skus', () => {
  test('a stock that has not fallen with the other: only a part of a basket was sold', async () => {
    const { verdict, reasons } = await run(crossedSkus, 'multi', { wrap: miscounted(1) });

    const reason = '4 baskets were sold, and the stock is 96 and 97 instead of 96.';
    expect({ verdict, reasons }).toEqual({ verdict: 'fail', reasons: [reason] });
  });

  test('units are missing that no basket explains: unknown', async () => {
    isUnknown(await run(crossedSkus, 'multi', { wrap: miscounted(-1) }), /^The stock is 96 and 95, and 96 is what/);
  });

  test('a lock that sells one sku at a time takes no second one: unknown', async () => {
    const outcome = await run(crossedSkus, 'multi', { really: 'fenced' });
    isUnknown(outcome, /^node-1 never asked for a second lock\.$/);
  });
});
