import { expect, test } from 'vitest';
import { undoneIn } from '../../../live/server/live-timeline.ts';
import type { SaleEvent } from '../../../loadtest/harness/lab-client.ts';

/** `1r100` is: sale 1 of node-1 reads 100; `w` writes, and `'` is the other node. */
const events = (...short: string[]): SaleEvent[] =>
  short.map((step, at) => {
    const [, saleId = '', what = '', stock = '', other = ''] = /^(\d)([rwx])(\d+)('?)$/.exec(step) ?? [];
    const type = ({ r: 'read', w: 'wrote', x: 'failed' } as const)[what] ?? 'left';
    return { type, node: other === '' ? 'node-1' : 'node-2', saleId, at, stock: Number(stock) };
  });

test.each([
  ['one after the other', ['1r100', '1w99', "1r99'", "1w98'"], 0],
  ['two have read, one has written yet', ['1r100', "1r100'", "1w99'"], 0],
  ['two have read and written the same', ['1r100', "1r100'", "1w99'", '1w99'], 1],
  ['one began again, and read what the other wrote', ['1r100', "1r100'", "1w99'", '1r99', '1w98'], 0],
  ['a later sale has the number of one before', ['1r100', '1w99', '1r99', "1r99'", "1w98'"], 0],
])('sales that are undone: %s', (_, steps, undone) => {
  expect(undoneIn(events(...steps))).toBe(undone);
});
