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

/** The guards of a refund, as REFUND names them. */
export const refundStaircase = readOrderStaircase({
  ...{ prefix: 'refund', kind: 'Refund', rowWord: 'guard', table },
  title: 'The refund: how often the money of one order is paid back',
  figure: ({ refunds }) => (refunds === undefined ? undefined : countOf(refunds, 'refund')),
  row: (guard) => ({
    story: `services/inventory/orders/refunds/${guard}.ts`,
    stack: { name: `refund-${guard}`, options: { env: { ...usualSettings, REFUND: guard } } },
  }),
});
