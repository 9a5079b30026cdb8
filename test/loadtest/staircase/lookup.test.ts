import { expect, test } from 'vitest';
import { lockStaircase } from '../../../loadtest/staircase/lock-stages.ts';
import {
  addExternalRow,
  backendOfRow,
  columnNames,
  hasNothingToBreak,
  isExternal,
  staircaseOf,
  staircases,
  verdictExpected,
} from '../../../loadtest/staircase/lookup.ts';

test('no name of a row or a column is there twice, and each is fit for a file', () => {
  const rowNames = staircases.flatMap(({ rows }) => Object.keys(rows));
  for (const names of [rowNames, columnNames]) {
    expect(names).toEqual([...new Set(names)]);
    for (const name of names) expect(name).toMatch(/^[a-z0-9-]+$/);
  }
});

test.each<[string, string, 'pass' | 'fail' | null, boolean]>([
  ['1-in-process', 'rush', 'fail', false],
  ['2-recursive-retry', 'rush', 'pass', false],
  ['2-recursive-retry', 'crashed-holder', null, false],
  ['fenced', 'failover', 'fail', false],
  ['guard-none', 'double-restore', 'fail', false],
  // A dash: nothing to break, and nothing is expected.
  ['0-none', 'late-release', null, true],
  // No column of its staircase.
  ['3-spin', 'constructor', null, false],
  ['guard-none', 'double-click', null, false],
  ['0-none', 'double-restore', null, false],
])('%s in %s: %s is expected', (row, drill, verdict, hasNothing) => {
  expect(verdictExpected(row, drill)).toBe(verdict);
  expect(hasNothingToBreak(row, drill)).toBe(hasNothing);
});

test('an external lock stands among the locks: nothing is expected of it, and what can break no stage can’t break it', () => {
  expect([isExternal('my-lock'), isExternal('4-ttl')]).toEqual([true, false]);
  expect(staircaseOf('my-lock')).toBe(lockStaircase);
  expect(verdictExpected('my-lock', 'rush')).toBeNull();
  const spared = columnNames.filter((drill) => hasNothingToBreak('my-lock', drill));
  addExternalRow('my-voted-lock', { backend: 'masters' });
  expect(spared).toEqual(expect.arrayContaining(['late-votes', 'crossed-skus', 'wrong-replica', 'double-restore']));
  expect(spared).not.toContain('rush');
  // Of several masters: what can break redlock may break it.
  expect([backendOfRow('my-voted-lock'), backendOfRow('my-lock')]).toEqual(['masters', 'redis']);
  expect(hasNothingToBreak('my-voted-lock', 'late-votes')).toBe(false);
});
