import { expect, test } from 'vitest';
import { readRecord } from '../../loadtest/figures/record.ts';
import { columnNames, columnOf, rowOf, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { readText } from './project-files.ts';

/** Pages that name cells as proofs: `row · drill` and the sign that stands there. */
const pages = [
  'docs/argument.md',
  'docs/conditions.md',
  'docs/lock-or-what.md',
  'docs/redisson.md',
  'docs/production.md',
];
const CELL = /`([\w@.-]+) · ([\w-]+)`(?: ([✔✘–]))?/g;

interface Verdicts {
  locks: { stage: string; drills: { drill: string; verdict: string }[] }[];
}

const { signs: recorded = {} } = readRecord().staircase ?? {};
const { locks: libraries } = JSON.parse(readText('docs/measured/verdicts.json')) as Verdicts;
const signOf = (verdict: string | null | undefined) => ({ pass: '✔', fail: '✘' })[verdict ?? ''];

/** What is taught of the cell, or what was measured where nothing is taught; of a library what its verdict says. */
function expectedSign(row: string, drill: string): string | undefined {
  const library = libraries.find(({ stage }) => stage === row);
  if (library !== undefined) return signOf(library.drills.find((each) => each.drill === drill)?.verdict);
  return rowOf(row) && (signOf(taughtVerdict(row, drill)) ?? recorded[row]?.[drill]);
}

const cellsIn = (text: string) =>
  [...text.matchAll(CELL)].map(([, row = '', drill = '', sign]) => ({ row, drill, sign }));

test.each(pages)('%s: each cell that it names as a proof is there, and has this sign', (page) => {
  const cells = cellsIn(readText(page)).filter(({ row }) => row !== 'stage');

  expect(cells.length).toBeGreaterThan(2);
  expect(cells.filter(({ drill }) => columnOf(drill) === undefined)).toEqual([]);
  expect(cells).toEqual(cells.map(({ row, drill }) => ({ row, drill, sign: expectedSign(row, drill) })));
});

test('docs/conditions.md: every condition of a list has a cell in which it holds', () => {
  const [list = ''] = /^\| condition .*?\n\n/ms.exec(readText('docs/conditions.md')) ?? [];
  const rows = list.trim().split('\n').slice(2);

  expect(rows.length).toBeGreaterThanOrEqual(8);
  expect(rows.filter((row) => !cellsIn(row).some(({ sign }) => sign === '✔'))).toEqual([]);
});

test('docs/argument.md: each claim has a quotation and an outcome, and names a drill or says why there is none', () => {
  const claims = readText('docs/argument.md')
    .split(/^### \d+\. /m)
    .slice(1);

  expect(claims.length).toBe(19);
  for (const claim of claims) {
    const [title = ''] = claim.split('\n');
    expect(claim, title).toMatch(/^> \S/m);
    expect(claim, title).toMatch(/\*\*Outcome:\*\*|No drill shows this/);
  }
});

test('cells: a wrong sign, a wrong drill and a cell of no staircase are seen', () => {
  const [first] = cellsIn('so `4-ttl · crashed-holder` ✘ is');

  expect(first).toEqual({ row: '4-ttl', drill: 'crashed-holder', sign: '✘' });
  expect(expectedSign('4-ttl', 'crashed-holder')).toBe('✔');
  expect(expectedSign('no-such-lock', 'crashed-holder')).toBeUndefined();
  expect(columnNames).not.toContain('crashed-holders');
});
