import { expect, test } from 'vitest';
import { scopeNames } from '../../../loadtest/prove/plan.ts';
import { hanging, signTable } from '../../../loadtest/report/terminal.ts';
import { staircases } from '../../../loadtest/staircase/lookup.ts';
import { strategies } from '../../../locks/index.ts';

const start = '  \u001b[31m✘ fails\u001b[39m  ';

test.each([
  ['a terminal: lines end between words, and go on under the first letter', 26, ['the late write', 'overwrote sales']],
  ['a word that has no room is not cut', 12, ['the', 'late', 'write', 'overwrote', 'sales']],
  ['what is piped is one line', Number.POSITIVE_INFINITY, ['the late write overwrote sales']],
])('%s', (_what, columns, lines) => {
  expect(hanging(start, 'the late write overwrote sales', columns)).toBe(start + lines.join(`\n${' '.repeat(11)}`));
});

test.each([
  ['no line begins with a comma', 17, '锁已释放，好', ['锁已释', '放，好']],
  ['no line ends with a bracket', 17, '锁已释（B）', ['锁已释', '（B）']],
  ['between a word and a character', 17, '在 node-1 卖出', ['在 node-1', '卖出']],
  ['what is piped is one line', Number.POSITIVE_INFINITY, '锁已释放，下一个', ['锁已释放，下一个']],
])('Chinese, two columns wide: %s', (_what, columns, text, lines) => {
  expect(hanging('  问题  ', text, columns)).toBe(`  问题  ${lines.join(`\n${' '.repeat(8)}`)}`);
});

test('a table of signs stands straight below names of Han', () => {
  const rows = [
    { name: '阶段 4', signs: ['✔', '✘'] },
    { name: 'fenced', signs: ['✔', '–'] },
  ];

  expect(signTable(['rush', 'outage'], rows, 80)).toEqual([
    '        rush',
    '        │ outage',
    '阶段 4  ✔ ✘',
    'fenced  ✔ –',
  ]);
});

test('columns for which there is no room stand in a table below', () => {
  const rows = [
    { name: '4-ttl', signs: ['✔', '✘', '?'] },
    { name: 'fenced', signs: ['✔', '✔', '–'] },
  ];

  expect(signTable(['rush', 'queue', 'outage'], rows, 17)).toEqual([
    '        rush',
    '        │ queue',
    '4-ttl   ✔ ✘',
    'fenced  ✔ ✔',
    '',
    '        outage',
    '4-ttl   ?',
    'fenced  –',
  ]);
});

const tables = [
  { title: 'the matrix of the search', columns: scopeNames, names: Object.keys(strategies) },
  ...staircases.map(({ title, columns, rows }) => ({ title, columns: Object.keys(columns), names: Object.keys(rows) })),
];

test.each(tables)('with all that it can have it fits 80 columns: $title', ({ columns, names }) => {
  const rows = names.map((name) => ({ name, signs: columns.map(() => '✔') }));
  const lines = signTable(columns, rows, 80);

  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(lines.join().split('✔')).toHaveLength(names.length * columns.length + 1);
});
