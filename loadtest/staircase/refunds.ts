// What is expected of the guards of a refund: how often the money of one order is paid back.

import { countOf } from '../narration/numbers.ts';
import { readOrderStaircase } from './staircase.ts';
import { usualSettings } from './usual-settings.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                             refund-same-node
                             │  refund-two-nodes
                             │  │  refund-crashes
refund-look-first            ✘  ✘  ✔
refund-table-look-first      ✔  ✘  ✘
refund-table                 ✔  ✔  ✘
refund-table-in-transaction  ✔  ✔  ✔
refund-conditional           ✔  ✔  ✔
`;

function row(guard: string, before?: string) {
  const stack = { name: `refund-${guard}`, options: { env: { ...usualSettings, REFUND: guard } } };
  return { before, story: `services/inventory/orders/refunds/${guard}.ts`, stack };
}

/** The guards of a refund, as REFUND names them, each compared with the one before it. */
export const refundStaircase = readOrderStaircase({
  ...{ prefix: 'refund', kind: 'Refund', rowWord: 'guard', table },
  title: 'The refund: how often the money of one order is paid back',
  figure: ({ refunds }) => (refunds === undefined ? undefined : countOf(refunds, 'refund')),
  rows: {
    'look-first': row('look-first'),
    'table-look-first': row('table-look-first', 'look-first'),
    table: row('table', 'table-look-first'),
    'table-in-transaction': row('table-in-transaction', 'table'),
    conditional: row('conditional', 'table-in-transaction'),
  },
});
