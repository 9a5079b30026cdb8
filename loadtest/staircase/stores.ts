// What is expected where the stock is in MySQL and in Redis at once: how a sale writes both, under which lock.

import { ways } from '../../services/inventory/sale/stores/index.ts';
import { either } from '../narration/spoken.ts';
import { lockStaircase } from './lock-stages.ts';
import { readOrderStaircase } from './staircase.ts';
import { usualSettings } from './usual-settings.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                                        last-unit
                                        │  lost-key
                                        │  │  late-fill
                                        │  │  │  later-fill
                                        │  │  │  │  crash-before-delete
                                        │  │  │  │  │  crash-between-writes
                                        │  │  │  │  │  │  wrong-hint
stores-write-through-0-none             ✘  ✘  –  –  –  ✘  ✘
stores-write-through-1-in-process       ✘  ✘  –  –  –  ✘  ✘
stores-write-through-2-recursive-retry  ✔  ✘  –  –  –  ✘  ✘
stores-write-through-8-auto-renew       ✔  ✘  –  –  –  ✘  ✘
stores-cache-aside-8-auto-renew         ✔  ✔  ✘  –  –  ✘  ✘
stores-cache-aside-read-write           ✔  ✔  ✔  –  –  ✘  ✘
stores-double-delete-8-auto-renew       ✔  ✔  ✔  ✘  ✘  ✘  ✘
stores-database-decides-0-none          ✔  ✔  ✔  ✔  ✔  ✔  ✘
`;

/** The ways to write both stores, each under the locks that show what it holds and what it leaves. */
export const storeStaircase = readOrderStaircase({
  ...{ prefix: 'stores', kind: ['Two stores', '双写'], rowWord: ['way', '方式'], table },
  title: [
    'The stock in MySQL and in Redis: units sold of the units in stock',
    'MySQL 和 Redis 里的库存：卖出的件数，和实有的件数',
  ],
  figure: ({ sold, units }) => (sold === undefined ? undefined : either(`${sold} of ${units}`, `${sold} / ${units}`)),
  row(name, above) {
    const { way, lock } = wayAndLock(name);
    const isSameWay = wayAndLock(above ?? '').way === way;
    // A node gives up on a command that is held for a second: the second delete comes sooner.
    const env = { ...usualSettings, ORDERS: 'off', STOCK_CACHE: way, STOCK_DELETE_AGAIN_MS: '500' };
    return {
      // A second delete changes nothing of what a lock around the reads does.
      before: way === 'double-delete' ? `cache-aside-${lock}` : above,
      // What is new in a row is its lock, or else its way.
      story: isSameWay ? lockStaircase.rows[lock]?.story : `services/inventory/sale/stores/${way}.ts`,
      stack: { name: `stores-${way}`, options: { env } },
    };
  },
});

/** The way and the lock of a row, by its short name. */
export function wayAndLock(row: string) {
  const way = Object.keys(ways).find((each) => row.startsWith(`${each}-`)) ?? '';
  return { way, lock: row.slice(way.length + 1) };
}
