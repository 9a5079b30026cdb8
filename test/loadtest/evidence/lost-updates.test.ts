import { expect, test } from 'vitest';
import { describeLostUpdate, findLostUpdates } from '../../../loadtest/evidence/lost-updates.ts';

const read = (saleId: string, stockBefore: number, bucket?: number, node = 'node-1') => ({
  ...{ saleId, node, stockBefore },
  ...(bucket !== undefined && { bucket }),
});
const groupsOf = (...sales: Parameters<typeof findLostUpdates>[0]) =>
  findLostUpdates(sales).map(({ sales }) => sales.map(({ saleId }) => saleId));

test('lost updates: the groups are those that read the same stock of the same bucket', () => {
  expect(groupsOf(read('1', 9), read('2', 8), read('3', 9), read('4', -1), read('5', -1), read('6', 9))).toEqual([
    ['1', '3', '6'],
    ['4', '5'],
  ]);
  expect(groupsOf(read('1', 7, 0), read('2', 7, 1))).toEqual([]);
  expect(groupsOf(read('1', 7, 0), read('2', 7, 1), read('3', 7, 1))).toEqual([['2', '3']]);
});

test.each([
  [
    [{ ...read('0812', 57), readMs: 1_020 }, read('0815', 57, undefined, 'node-2')],
    'sale 0812 on node-1 (at 1.020 s) and sale 0815 on node-2 both read stock 57',
  ],
  // Two nodes where there are two.
  [
    [read('0001', 9), read('0002', 9), read('0007', 9, undefined, 'node-2')],
    'sale 0001 on node-1, sale 0007 on node-2 and 1 other sale all read stock 9',
  ],
  [
    [read('0002', 7, 1), read('0003', 7, 1)],
    'sale 0002 on node-1 and sale 0003 on node-1 both read stock 7 of bucket 1',
  ],
])('lost updates, the sentence: %o', (sales, sentence) => {
  expect(findLostUpdates(sales).map(describeLostUpdate)).toEqual([sentence]);
});
