import { expect, test } from 'vitest';
import { plainLine } from '../../stack/plain-line.ts';

const sale = {
  ...{ level: 20, msg: 'sale', requestId: '1', lock: '4-ttl', port: 7777, sku: '001', outcome: 'sold' },
  ...{ stockBefore: 9, remaining: 8, ms: 3 },
};
const cleanUp = {
  ...{ level: 20, msg: 'clean-up', outcome: 'ran', guard: 'conditional', due: 2, closed: 1, restored: 1, ms: 4 },
};

test('plain line: a sale and a clean-up are told in words', () => {
  expect(plainLine(JSON.stringify(sale))).toBe(':7777 sold 001, stock 9 → 8 (4-ttl, 3 ms)');
  const { stockBefore: _before, remaining: _remaining, ...refused } = { ...sale, outcome: 'SOLD_OUT' };
  expect(plainLine(JSON.stringify(refused))).toBe(':7777 SOLD_OUT 001 (4-ttl, 3 ms)');
  expect(plainLine(JSON.stringify(cleanUp))).toBe('cleanup ran, due 2, closed 1, units returned 1 (conditional, 4 ms)');
});

test.each([
  ['the first half of a sale, of a node that was killed', JSON.stringify(sale).slice(0, -9)],
  ['the second half of one', JSON.stringify(sale).slice(9)],
  ['two in one line', JSON.stringify(sale).repeat(2)],
  ['what a lock prints', 'acquired for {"msg":"sale"} after 3 ms'],
  ['JSON that a lock prints', '{"msg":"sale"}'],
  ['a list of sales', `[${JSON.stringify(sale)}]`],
  ['a value with a sale in it', JSON.stringify({ level: 30, msg: 'given', given: { msg: 'sale' } })],
  ['another line', '{"level":30,"msg":"listening"}'],
  ['an empty line', ''],
])('plain line: %s stays as it is', (_what, line) => {
  expect(plainLine(line)).toBeUndefined();
});
