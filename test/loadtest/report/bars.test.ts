import { expect, test } from 'vitest';
import { barTable } from '../../../loadtest/report/bars.ts';

test('bars: each is as long as its value, from zero to its side, on one scale with the lines over them', () => {
  const bar = (value: number) => ({ value, kind: 'final' as const });
  const { markup } = barTable(
    'Units',
    [],
    [
      { name: 'a', bars: [bar(-100), bar(200)], cells: [] },
      { name: 'b', bars: [{ ...bar(200), range: { min: 100, max: 300 } }], cells: [] },
    ],
  );
  expect([...markup.matchAll(/left: (.*?)%; width: (.*?)%/g)].map(([, left, width]) => `${left} ${width}`)).toEqual([
    '0 25',
    '25 50',
    '25 50',
    '50 50',
  ]);
});
