import { describe, expect, test } from 'vitest';
import { NotStagedError } from '../../../loadtest/harness/faults.ts';
import type { SaleEnd } from '../../../loadtest/harness/single-sale.ts';
import { readStock } from '../../../loadtest/harness/step-drill.ts';
import type { TestBedOutcome } from '../../../loadtest/harness/test-bed.ts';

const sold: SaleEnd = {
  outcome: 'sold',
  sale: { outcome: 'sold', saleId: '0001', node: 'node-1', stockBefore: 10, remaining: 9 },
  sentAt: 0,
  ms: 1,
};
const cutOff: SaleEnd = { outcome: 'cutOff', sentAt: 0, ms: 1 };
const outcome = (ends: SaleEnd[], finalStock: number): TestBedOutcome => ({
  ends,
  initialStock: 10,
  finalStock,
  events: [],
  startedAt: 0,
});

describe('stock of a drill: what is lost for certain', () => {
  test('a sale in doubt may have taken place or not, and is no loss either way', () => {
    expect(readStock(outcome([sold, cutOff], 8))).toMatchObject({ sold: 1, inDoubt: 1, lostUpdates: 0 });
    expect(readStock(outcome([sold, cutOff], 9))).toMatchObject({ sold: 1, inDoubt: 1, lostUpdates: 0 });
  });

  test('a sale that was answered and is not in the stock is lost', () => {
    expect(readStock(outcome([sold, sold, cutOff], 9)).lostUpdates).toBe(1);
  });

  test('units that no sale explains are no verdict, and never a pass', () => {
    expect(() => readStock(outcome([sold, cutOff], 7))).toThrow(NotStagedError);
  });
});
