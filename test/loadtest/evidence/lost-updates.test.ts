import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeLostUpdate, findLostUpdates } from '../../../loadtest/evidence/lost-updates.ts';

const RUNS = { seed: 1, numRuns: 200 };

describe('lost updates', () => {
  const reader = fc.record({
    stockBefore: fc.integer({ min: -3, max: 3 }),
    node: fc.constantFrom('node-1', 'node-2', 'node-3'),
  });
  const readers = fc
    .array(reader, { maxLength: 10 })
    .map((readers) => readers.map((reader, index) => ({ ...reader, saleId: String(index).padStart(4, '0') })));

  test('the groups are those that read the same stock: every reader that had company is in one', () => {
    fc.assert(
      fc.property(readers, (readers) => {
        const groups = findLostUpdates(readers);
        const companyOf = (stock: number) => readers.filter(({ stockBefore }) => stockBefore === stock);
        for (const { stockBefore, sales } of groups) {
          expect(sales.map(({ saleId }) => saleId)).toEqual(companyOf(stockBefore).map(({ saleId }) => saleId));
        }
        const together = readers.filter(({ stockBefore }) => companyOf(stockBefore).length > 1);
        expect(groups.flatMap(({ sales }) => sales)).toHaveLength(together.length);
      }),
      RUNS,
    );
  });

  test('witness: a sentence names sale and node, two nodes where there are two', () => {
    const sale = (saleId: string, node: string) => ({ saleId, node });
    const timed = [{ ...sale('0812', 'node-1'), readMs: 1_020 }, sale('0815', 'node-2')];
    expect(describeLostUpdate({ stockBefore: 57, sales: timed })).toBe(
      'sale 0812 on node-1 (at 1.020 s) and sale 0815 on node-2 both read stock 57',
    );
    expect(
      describeLostUpdate({
        stockBefore: 9,
        sales: [sale('0001', 'node-1'), sale('0002', 'node-1'), sale('0007', 'node-2')],
      }),
    ).toBe('sale 0001 on node-1, sale 0007 on node-2 and 1 other sale all read stock 9');
  });

  test('the same stock of two buckets is not the same stock, and a sentence names the bucket', () => {
    const read = (saleId: string, bucket: number) => ({ saleId, node: 'node-1', stockBefore: 7, bucket });

    expect(findLostUpdates([read('0001', 0), read('0002', 1)])).toEqual([]);
    const [group, ...more] = findLostUpdates([read('0001', 0), read('0002', 1), read('0003', 1)]);
    expect([group?.sales.map(({ saleId }) => saleId), more]).toEqual([['0002', '0003'], []]);
    expect(group && describeLostUpdate(group)).toBe(
      'sale 0002 on node-1 and sale 0003 on node-1 both read stock 7 of bucket 1',
    );
  });
});
