import { backendOf } from '../../locks/index.ts';
import type { StackOptions } from '../../scripts/stack/stack.ts';
import { formatNumber } from '../evidence/numbers.ts';
import type { StepFigures } from '../evidence/results.ts';
import type { Column, Row, Staircase } from './staircase.ts';
import { usualSettings } from './usual-settings.ts';

/** The names of these rows begin so: a guard may have the name of a lock, or of a strategy for keys. */
const PREFIX = 'guard-';

/** The row of a guard, as JOB_LOCK names it. */
export const rowOfGuard = (guard: string) => `${PREFIX}${guard}`;
/** The guard of a row, as JOB_LOCK names it. */
export const guardOfRow = (row: string) => row.slice(PREFIX.length);

const restored = ({ restored, due }: StepFigures) =>
  restored === undefined || due === undefined ? undefined : `${formatNumber(restored)} of ${formatNumber(due)}`;

const columns: Record<string, Column> = {
  'same-node-twice': {
    asks: 'are orders restored twice when a tick of a node comes before its last one has ended?',
    seconds: 2,
  },
  'double-restore': { asks: 'are orders restored twice when both nodes tick at the same moment?', seconds: 2 },
  'clock-skew': { asks: 'are orders restored twice when the schedule of one node is a little late?', seconds: 3 },
  'job-outlives-lease': { asks: 'are orders restored twice when a tick takes longer than its lease?', seconds: 4 },
  'job-crashes-half-way': {
    asks: 'is each order restored once when a node is killed in the middle of a tick?',
    seconds: 3,
  },
};
for (const column of Object.values(columns)) column.figure = restored;

/** Each drill sets the guard, and a tick comes when it says so. */
const stack: { name: string; options: StackOptions } = { name: 'orders', options: { env: usualSettings } };

const jobs = 'services/inventory/orders/jobs';
const lock = `${jobs}/lock.ts`;

interface Place {
  /** The guard that it is set beside. */
  before?: string;
  /** The file that tells its story. */
  story: string;
  isAside?: true;
}

function row(guard: string, signs: string, { before, ...place }: Place): [string, Row] {
  const backend = backendOf(guard);
  return [
    rowOfGuard(guard),
    {
      title: `Guard · ${guard}`,
      short: guard,
      signs,
      ...(before !== undefined && { before: rowOfGuard(before) }),
      ...place,
      backends: backend === 'mysql' ? ['mysql'] : ['mysql', backend],
      stack,
    },
  ];
}

/** A lock as a guard that the story leaves out: it shows nothing that its neighbours do not show. */
const aside = (guard: string, signs: string, before: string) =>
  row(guard, signs, { before, story: lock, isAside: true });

/** The guards of the scheduled clean-up: what is restored of the units that are due. */
export const guardStaircase: Staircase = {
  title: 'The clean-up: units restored of the units due',
  rowWord: 'guard',
  columns,
  rows: Object.fromEntries([
    row('none', '✘✘✘✘✘', { story: `${jobs}/none.ts` }),
    row('in-process', '✔✘✘✘✘', { before: 'none', story: `${jobs}/in-process.ts` }),
    aside('2-recursive-retry', '✔✔✔✔✘', 'in-process'),
    aside('3-spin', '✔✔✔✔✘', 'in-process'),
    aside('4-ttl', '✔✔✔✘✘', 'in-process'),
    aside('5-owner-check', '✔✔✔✘✘', 'in-process'),
    row('6-lua-release', '✔✔✔✘✘', { before: 'in-process', story: lock }),
    aside('7-reentrant', '✔✔✔✘✘', 'in-process'),
    row('8-auto-renew', '✔✔✔✔✘', { before: '6-lua-release', story: 'locks/8-auto-renew.ts' }),
    aside('blocking', '✔✔✔✔✘', '6-lua-release'),
    aside('fair', '✔✔✔✔✘', '6-lua-release'),
    aside('cohort', '✔✔✔✔✘', '6-lua-release'),
    aside('fenced', '✔✔✔✔✘', '6-lua-release'),
    row('zookeeper', '✔✔✔✔✘', { before: '8-auto-renew', story: 'locks/beyond/zookeeper.ts' }),
    row('mysql-lock-table', '✔✔✔✔✘', { before: '8-auto-renew', story: 'locks/beyond/mysql-lock-table.ts' }),
    aside('mysql-named', '✔✔✔✔✘', '8-auto-renew'),
    row('conditional', '✔✔✔✔✔', { before: '8-auto-renew', story: `${jobs}/conditional.ts` }),
  ]),
  praise: 'Every unit restored exactly once, in every drill',
};
