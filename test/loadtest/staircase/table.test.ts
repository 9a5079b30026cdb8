import { expect, test } from 'vitest';
import { readTable } from '../../../loadtest/staircase/table.ts';

const known = { columns: ['rush', 'failover', 'sell-out'], rows: ['0-none', 'fenced'], signs: ['✔', '✘', '·', '–'] };

const whole = `
        rush
        │  sell-out
        │  │  failover
0-none  ✘  –  ·

fenced  ✔  ✔  ✘
`;

test('table: each sign by its row and column, in the order of the text', () => {
  const { columns, rows } = readTable(whole, known);
  expect(columns).toEqual(['rush', 'sell-out', 'failover']);
  expect(Object.entries(rows)).toEqual([
    ['0-none', { rush: '✘', 'sell-out': '–', failover: '·' }],
    ['fenced', { rush: '✔', 'sell-out': '✔', failover: '✘' }],
  ]);
});

const row = '0-none  ✘  –  ·';
test.each([
  ['a column that is not known', ['rush', 'rash'], 'The table has the column rash twice, or it is not known.'],
  ['a row that is not known', ['fenced', 'fanced'], 'The table has the row fanced twice, or it is not known.'],
  ['a row that is there twice', ['fenced', '0-none'], 'The table has the row 0-none twice, or it is not known.'],
  ['a cell that is empty', [row, '0-none  ✘     ·'], 'The row 0-none has none of ✔ ✘ · – under sell-out.'],
  ['a cell beside its column', [row, '0-none  ✘ –   ·'], 'In the row 0-none, – stands under no column.'],
  ['a sign that is not known', [row, '0-none  ✘  -  ·'], 'The row 0-none has none of ✔ ✘ · – under sell-out.'],
] as const)('%s', (_, [from, to], sentence) => {
  const changed = whole.replace(from, to);
  expect(changed).not.toBe(whole);
  expect(() => readTable(changed, known)).toThrow(sentence);
});
