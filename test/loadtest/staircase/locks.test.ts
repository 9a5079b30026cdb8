import { expect, test } from 'vitest';
import { drills } from '../../../loadtest/drills/index.ts';
import { lockStaircase } from '../../../loadtest/staircase/locks.ts';
import { locks, strategies } from '../../../locks/index.ts';

const { columns, rows } = lockStaircase;

test('locks: the columns are the drills and the rows the strategies, in their order', () => {
  expect(Object.keys(columns)).toEqual(drills.map(({ name }) => name));
  expect(Object.keys(rows)).toEqual(Object.keys(strategies));
});

test.each(Object.keys(columns))('%s: from stage to stage, what is taught to hold goes on to hold', (drill) => {
  const signs = Object.keys(locks).map((stage) => rows[stage]?.signs[drill]);
  expect(signs.join('')).toMatch(/^–*[·✘]*✔*$/);
});
