import { formatNumber } from '../evidence/numbers.ts';
import type { StepFigures } from '../evidence/results.ts';
import type { Column, Row, Staircase } from './staircase.ts';
import { usualSettings } from './usual-settings.ts';

/** The names of these rows begin so: a strategy may have the name of a guard. */
const PREFIX = 'key-';

/** The row of a strategy, as IDEMPOTENCY names it. */
export const rowOfStrategy = (strategy: string) => `${PREFIX}${strategy}`;

/** The strategy of a row, as IDEMPOTENCY names it. */
export const strategyOfRow = (row: string) => row.slice(PREFIX.length);

/** How long the lock of a key, or of a sale, lasts when its holder is dead, in milliseconds. */
export const KEY_LEASE_MS = 1_000;

const made = ({ orders, refunds }: StepFigures) => {
  const [count, name] = refunds === undefined ? [orders, 'order'] : [refunds, 'refund'];
  if (count === undefined) return undefined;
  return `${formatNumber(count)} ${name}${count === 1 ? '' : 's'}`;
};

const columns: Record<string, Column> = {
  'one-node-click': { asks: 'does one purchase make one order when one node gets it many times?', seconds: 2 },
  'double-click': { asks: 'does one purchase make one order when two nodes get it many times?', seconds: 2 },
  'refund-twice': { asks: 'is one refund paid once when two nodes get it at the same moment?', seconds: 2 },
  'retry-after-timeout': {
    asks: 'does a client that repeats because its answer was lost buy a second time?',
    seconds: 2,
  },
  'crash-before-answer': { asks: 'does a client that repeats because the node died buy a second time?', seconds: 3 },
  'next-upstream': { asks: 'does one click buy twice when nginx sends it to the other node as well?', seconds: 3 },
};
for (const column of Object.values(columns)) column.figure = made;

function row(strategy: string, signs: string, before: string | undefined): [string, Row] {
  const env = {
    ...usualSettings,
    IDEMPOTENCY: strategy,
    // A refund that looks and then pays: what holds must be the key.
    REFUND: 'look-first',
    LEASE_MS: String(KEY_LEASE_MS),
    RETRY_DELAY_MS: '5',
    WAIT_TIMEOUT_MS: '10000',
  };
  return [
    rowOfStrategy(strategy),
    {
      title: `Idempotency · ${strategy}`,
      short: strategy,
      signs,
      before: before && rowOfStrategy(before),
      story: `services/inventory/orders/idempotency/${strategy}.ts`,
      backends: ['mysql'],
      stack: { name: rowOfStrategy(strategy), options: { env, nginxSendsAgain: true } },
    },
  ];
}

/** The strategies for the same request that comes twice: the orders and refunds that are made of one. */
export const keyStaircase: Staircase = {
  title: 'The double click: orders and refunds made of one intent',
  rowWord: 'strategy',
  columns,
  rows: Object.fromEntries([
    row('none', '✘✘✘✘✘✘', undefined),
    row('in-process', '✔✘✘✘✘✘', 'none'),
    row('lock', '✔✔✔✘✘✘', 'in-process'),
    row('table', '✔✔✔✔✔✔', 'lock'),
  ]),
  praise: 'One order and one refund of one intent, in every drill',
};
