import { expect, test } from 'vitest';
import { findLostUpdates } from '../../../loadtest/evidence/lost-updates.ts';

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
