import { describe, expect, test } from 'vitest';
import { cellsOf, drillsOf, rowsOf, storyOf, storyRowsOf, tracks } from '../../../loadtest/run/tracks.ts';
import { refundStaircase } from '../../../loadtest/staircase/keys.ts';
import { scheduleStaircase } from '../../../loadtest/staircase/schedules.ts';
import type { Row } from '../../../loadtest/staircase/staircase.ts';
import { storeStaircase } from '../../../loadtest/staircase/stores.ts';

const rows = rowsOf('orders');
const textOf = (signs: Row['signs']) => Object.values(signs).join('');

describe('orders: the staircases', () => {
  test.each(tracks.orders)(
    '$staircase.title: from row to row what holds goes on to hold, and the last row holds all',
    ({ staircase }) => {
      // Close first pays for one crash with the other, a fixed rate for one tick at a time with the pile, a table with what a crash leaves.
      const exceptions = [
        'guard-close-first job-crashes-after-close',
        'schedule-fixed-rate runs-pile-up',
        'refund-table-look-first refund-crashes',
      ];
      const told = Object.entries(staircase.rows).filter(([, { isAside }]) => !isAside);
      const names = told.map(([name]) => name);
      const signs = told.map(([, row]) => textOf(row.signs));
      for (const [at, row] of signs.entries()) {
        for (const [column, sign] of [...row].entries()) {
          const cell = `${names[at]} ${Object.keys(staircase.columns)[column]}`;
          if (signs[at - 1]?.[column] === '✔') expect(sign).toBe(exceptions.includes(cell) ? '✘' : '✔');
        }
      }
      // Ticks neither overlap nor pile up with a fixed delay, either, and a refund may have a table or none. Two stores are
      // one too many: no way to write both holds when Redis says 0 and is wrong.
      const fewer = [scheduleStaircase, refundStaircase].includes(staircase) ? 2 : 1;
      const holding = staircase === storeStaircase ? 0 : fewer;
      expect(signs.filter((row) => !row.includes('✘'))).toEqual(signs.slice(signs.length - holding));
      for (const { asks } of Object.values(staircase.columns)) expect(asks).not.toBe('');
    },
  );
});

test('orders: every drill under every row of its own staircase, and the story leaves some rows out', () => {
  const names = storyOf('orders', storyRowsOf('orders')).map(({ stage, drill }) => `${stage} ${drill.name}`);
  const stores = 8 * 7 - 4 * 3 - 2 * 2;
  expect(names).toHaveLength(8 * 6 + 4 * 2 + 2 + 4 * 7 + 5 * 3 + stores);
  expect(new Set(names).size).toBe(names.length);
  expect(cellsOf('orders', rows)).toHaveLength(18 * 6 + 4 * 2 + 2 + 4 * 7 + 5 * 3 + 8 * 7);
  const chosen = drillsOf('orders').filter(({ name }) => name === 'double-click');
  expect(cellsOf('orders', ['guard-none', 'key-table'], chosen)).toEqual([{ stage: 'key-table', drill: chosen[0] }]);
});
