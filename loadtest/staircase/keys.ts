// The expected results of the strategies for repeated requests (orders, refunds and payments per intent), and of the protections of a refund.

import { countOf, formatNumber } from '../narration/numbers.ts';
import { either } from '../narration/spoken.ts';
import { readOrderStaircase } from './staircase.ts';
import { usualSettings } from './usual-settings.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                one-node-click
                │  double-click
                │  │  refund-twice
                │  │  │  retry-after-timeout
                │  │  │  │  crash-before-answer
                │  │  │  │  │  next-upstream
                │  │  │  │  │  │  redelivered
key-none        ✘  ✘  ✘  ✘  ✘  ✘  ✘
key-in-process  ✔  ✘  ✘  ✘  ✘  ✘  ✘
key-lock        ✔  ✔  ✔  ✘  ✘  ✘  ✘
key-table       ✔  ✔  ✔  ✔  ✔  ✔  ✔
`;

/** The row of a strategy, by its name in IDEMPOTENCY. */
export const rowOfStrategy = (strategy: string) => `key-${strategy}`;

/** How long the lock of a key, or of a sale, outlasts its dead holder, in milliseconds. */
export const KEY_LEASE_MS = 1_000;

/** The settings of the nodes for all strategies. */
export const keySettings = {
  ...usualSettings,
  // A refund that looks and then pays: what holds must be the key.
  REFUND: 'look-first',
  PAYMENTS: 'on',
  // How long a payment stays with a node that has not acknowledged it, in milliseconds.
  PAYMENT_MIN_IDLE_MS: '2000',
  LEASE_MS: String(KEY_LEASE_MS),
  RETRY_DELAY_MS: '5',
  WAIT_TIMEOUT_MS: '10000',
};

const refundsIn = (refunds: number) => either(countOf(refunds, 'refund'), `退款 ${formatNumber(refunds)} 次`);

/** The strategies for a request that arrives twice. */
export const keyStaircase = readOrderStaircase({
  ...{ prefix: 'key', kind: ['Idempotency', '幂等'], rowWord: ['strategy', '策略'], table },
  title: ['The double click: orders, refunds and payments for one intent', '重复点击：一次购买产生的订单、退款和付款'],
  figure({ orders, refunds, payments }) {
    if (payments !== undefined) return either(countOf(payments, 'payment'), `入账 ${formatNumber(payments)} 次`);
    if (refunds !== undefined) return refundsIn(refunds);
    return orders === undefined ? undefined : either(countOf(orders, 'order'), `${formatNumber(orders)} 个订单`);
  },
  row(strategy) {
    const env = { ...keySettings, IDEMPOTENCY: strategy };
    const stack = { name: rowOfStrategy(strategy), options: { env, nginxSendsAgain: true } };
    return { story: `services/inventory/orders/idempotency/${strategy}.ts`, stack };
  },
});

// How often the money of one order is paid back.
const refundTable = `
                             refund-same-node
                             │  refund-two-nodes
                             │  │  refund-crashes
refund-look-first            ✘  ✘  ✔
refund-table-look-first      ✔  ✘  ✘
refund-table                 ✔  ✔  ✘
refund-table-in-transaction  ✔  ✔  ✔
refund-conditional           ✔  ✔  ✔
`;

/** The protections of a refund, by their names in REFUND. */
export const refundStaircase = readOrderStaircase({
  ...{ prefix: 'refund', kind: ['Refund', '退款'], rowWord: ['protection', '方案'], table: refundTable },
  title: ['The refund: how often one order is refunded', '退款：一个订单退了几次款'],
  figure: ({ refunds }) => (refunds === undefined ? undefined : refundsIn(refunds)),
  row: (guard) => ({
    story: `services/inventory/orders/refunds/${guard}.ts`,
    stack: { name: `refund-${guard}`, options: { env: { ...usualSettings, REFUND: guard } } },
  }),
});
