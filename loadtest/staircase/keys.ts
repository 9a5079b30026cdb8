// What is taught of the strategies for what comes twice: the orders, refunds and payments that are made of one.

import { countOf } from '../evidence/numbers.ts';
import type { StepFigures } from '../evidence/results.ts';
import { type Column, readOrderStaircase } from './staircase.ts';
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

/** The row of a strategy, as IDEMPOTENCY names it. */
export const rowOfStrategy = (strategy: string) => `key-${strategy}`;

/** How long the lock of a key, or of a sale, lasts when its holder is dead, in milliseconds. */
export const KEY_LEASE_MS = 1_000;

/** How long a payment stays with a node that has not acknowledged it, in milliseconds. */
export const PAYMENT_MIN_IDLE_MS = 2_000;

const figure = ({ orders, refunds, payments }: StepFigures) => {
  if (payments !== undefined) return countOf(payments, 'payment');
  if (refunds !== undefined) return countOf(refunds, 'refund');
  return orders === undefined ? undefined : countOf(orders, 'order');
};

const columns: Record<string, Column> = {
  'one-node-click': { asks: 'does one purchase make one order when one node gets it many times?', figure },
  'double-click': { asks: 'does one purchase make one order when two nodes get it many times?', figure },
  'refund-twice': { asks: 'is one refund paid once when two nodes get it at the same moment?', figure },
  'retry-after-timeout': { asks: 'does a client that repeats because its answer was lost buy a second time?', figure },
  'crash-before-answer': { asks: 'does a client that repeats because the node died buy a second time?', figure },
  'next-upstream': { asks: 'does one click buy twice when nginx sends it to the other node as well?', figure },
  redelivered: {
    asks: 'is one payment booked once when its message comes again, because its consumer died before XACK?',
    figure,
  },
};

function row(strategy: string, before?: string) {
  const env = {
    ...usualSettings,
    IDEMPOTENCY: strategy,
    // A refund that looks and then pays: what holds must be the key.
    REFUND: 'look-first',
    PAYMENTS: 'on',
    PAYMENT_MIN_IDLE_MS: String(PAYMENT_MIN_IDLE_MS),
    LEASE_MS: String(KEY_LEASE_MS),
    RETRY_DELAY_MS: '5',
    WAIT_TIMEOUT_MS: '10000',
  };
  const stack = { name: rowOfStrategy(strategy), options: { env, nginxSendsAgain: true } };
  return { before, story: `services/inventory/orders/idempotency/${strategy}.ts`, stack };
}

/** The strategies for a request that comes twice, each compared with the one before it. */
export const keyStaircase = readOrderStaircase(
  { prefix: 'key', kind: 'Idempotency' },
  {
    title: 'The double click: orders, refunds and payments made of one intent',
    rowWord: 'strategy',
    table,
    columns,
    rows: {
      none: row('none'),
      'in-process': row('in-process', 'none'),
      lock: row('lock', 'in-process'),
      table: row('table', 'lock'),
    },
  },
);
