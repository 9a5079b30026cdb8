// The expected results of the locks: the result matrix of the course.

import { backendOf, beyond, locks, numberOf, replicasOf } from '../../locks/index.ts';
import type { StepFigures } from '../evidence/results.ts';
import { countOf, formatDuration, formatNumber } from '../narration/numbers.ts';
import { type Column, type Group, groups, readStaircase, type UnreadRow } from './staircase.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                   one-node-rush
                   │  rush
                   │  │  sell-out
                   │  │  │  long-wait
                   │  │  │  │  crashed-holder
                   │  │  │  │  │  hung-holder
                   │  │  │  │  │  │  slow-holder
                   │  │  │  │  │  │  │  late-release
                   │  │  │  │  │  │  │  │  nested-call
                   │  │  │  │  │  │  │  │  │  long-sale
                   │  │  │  │  │  │  │  │  │  │  paused-process
                   │  │  │  │  │  │  │  │  │  │  │  blocked-loop
                   │  │  │  │  │  │  │  │  │  │  │  │  partition
                   │  │  │  │  │  │  │  │  │  │  │  │  │  late-write
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  crossed-write
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  late-batch
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  early-read
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  crossed-skus
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  failover
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  forgotten-sale
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  wrong-replica
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  redis-outage
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  client-gone
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  starvation
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  overtaking
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  frozen-master
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  late-votes
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  amnesia
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  clock-jump
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  lock-outage
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  three-clerks
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  fourth-clerk
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  lost-permit
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  failed-sale
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  forgotten-release
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  one-user
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  given-lease
0-none             ✘  ✘  ✘  –  ·  ·  ·  –  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  –  –  –  –  –  –  ·  –  –  –  –  –  –  ✘  –
1-in-process       ✔  ✘  ✘  –  ·  ·  ·  –  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  –  –  –  –  –  ·  –  –  –  –  ✔  –  ✘  –
2-recursive-retry  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  –  ✔  –
3-spin             ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  –  ✔  –
4-ttl              ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  –  ✔  –
5-owner-check      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  –  ✔  –
6-lua-release      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  –  ✔  –
7-reentrant        ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  ✔  ✔  –
8-auto-renew       ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘  –  –  –  –  ✔  ✘  ✔  –

delete-if-equal    ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·  –  –  –  –  ✔  –  ✔  –
bounded            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘  –  –  –  –  ✔  ✔  ✔  –
blocking           ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘  –  –  –  –  ✔  ✘  ✔  ✘
fair               ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✔  ✔  –  –  –  ✘  –  –  –  –  ✔  ✘  ✔  –
cohort             ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✔  ✘  –  –  –  ✘  –  –  –  –  ✔  ✘  ✔  –
combine            ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✘  –  –  ✘  ✘  –  ✔  ✔  ✔  ✘  –  –  –  ✔  –  –  –  –  ✔  –  –  –
read-write         ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  ✔  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘  –  –  –  –  ✔  ✘  ✔  –
fenced-writes      ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔  –  –  –  –  ✔  ✘  ✔  –
fenced             ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔  –  –  –  –  ✔  ✘  ✔  –
buckets            ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔  –  –  –  –  ✔  –  –  –
multi              ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔  –  –  –  –  ✔  ✘  ✔  –
replicated         ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✔  ✔  ✘  ✔  ✔  ✘  ✘  –  –  –  ·  –  –  –  –  ✔  ✘  ✔  –
redlock            ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✘  ✘  ✔  ✔  ✘  ✘  ✔  –  –  –  ✔  ✘  ✔  –
mysql-lock-table   ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔  –  –  –  –  ✔  –  –  –  ✔  ✘  ✔  –
mysql-named        ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔  –  –  –  –  ✔  –  –  –  ✔  ✘  ✔  –
mysql-pessimistic  ✔  ✔  ✔  –  ✔  ✘  ✔  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  ✔  ✔  ✔  –  –  –  –  –  –  –  –  ✔  –  –  –
mysql-optimistic   ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –
mysql-conditional  ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –
zookeeper          ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔  –  –  –  –  ✔  –  –  –  ✔  ✘  ✔  –
redis-atomic       ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  ✔  –  –  –  –  ✔  ✘  –  ✔  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –
semaphore          ✔  ✔  ✔  –  ✔  ✔  –  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✘  –  ✔  –  –  –  –  –  –  ✔  –  ✔  ✘  ✔  –  –  –  –
`;

type Figure = NonNullable<Column['figure']>;

/** The damage that a cell shows, the most important first, with its word. */
const damages = {
  unsold: 'not sold',
  earlyAnswers: 'too early',
  lostUpdates: 'sold twice',
  cutOff: 'cut off',
  stillWaiting: 'still wait',
  soldToNobody: 'to nobody',
};
const damageIn = (figures: StepFigures) => {
  const [found] = Object.entries(damages).filter(([name]) => (figures[name] ?? 0) > 0);
  if (found !== undefined) return `${formatNumber(figures[found[0]] ?? 0)} ${found[1]}`;
  return figures['overlaps'] ? countOf(figures['overlaps'], 'overlap') : undefined;
};
/** The damage, or what `otherwise` says if there is none. */
const damageOr =
  (otherwise: Figure): Figure =>
  (figures, verdict) =>
    damageIn(figures) ?? otherwise(figures, verdict);
/** These words and the duration of a figure. Nothing if it was not measured. */
const lasted =
  (name: string, words = ''): Figure =>
  ({ [name]: ms }) =>
    ms === undefined ? undefined : `${words}${formatDuration(ms)}`;

const waited = lasted('keptOutMs', 'waited ');
const soldTwice = damageOr((figures, verdict) => waited(figures, verdict) ?? '0 sold twice');
const met = damageOr((figures, verdict) => waited(figures, verdict) ?? '0 overlaps');
/** A refused sale cannot be forgotten. */
const forgotten: Figure = ({ lostUpdates = 0, sold }) => {
  if (sold === undefined) return undefined;
  return sold === 0 ? 'refused' : `${formatNumber(lostUpdates)} forgotten`;
};
const taken: Figure = ({ takeoverMs, keptOutMs = 0 }) =>
  takeoverMs === undefined ? `none in ${formatDuration(keptOutMs)}` : `after ${formatDuration(takeoverMs)}`;

const insideAtOnce: Figure = ({ mostInside }) => (mostInside === undefined ? undefined : `${mostInside} inside`);

/** The questions of drills without a scenario file. */
const columns: Record<Group, Record<string, Partial<Column>>> = {
  Safety: {
    'one-node-rush': { asks: 'does one node alone sell a unit twice?' },
    rush: { asks: 'do two nodes together sell a unit twice?' },
    'sell-out': { asks: 'are more units sold than there are in stock?' },
    'slow-holder': { figure: met },
    'late-release': { figure: (figures, verdict) => (figures['otherKeys'] ? 'another key' : met(figures, verdict)) },
    'long-sale': { figure: soldTwice },
    'paused-process': { figure: soldTwice },
    'blocked-loop': { figure: soldTwice },
    partition: { figure: soldTwice, isAside: true },
    'late-write': { figure: soldTwice },
    'crossed-write': { figure: soldTwice },
    'late-batch': { figure: damageOr(({ inDoubt = 0 }) => `${formatNumber(inDoubt)} in doubt`) },
    'early-read': {
      figure: damageOr((figures, verdict) =>
        figures['readersAtOnce'] === 1 ? 'one by one' : lasted('waitedMs', 'sold after ')(figures, verdict),
      ),
    },
    'late-votes': { figure: soldTwice },
    'one-user': { figure: met, isOption: true },
    'given-lease': { figure: soldTwice, isOption: true },
    'three-clerks': { figure: insideAtOnce },
    'fourth-clerk': { figure: insideAtOnce, isAside: true },
  },
  Liveness: {
    'crashed-holder': { figure: taken },
    'hung-holder': { figure: taken },
    'nested-call': { figure: damageOr(lasted('answeredMs')) },
    'crossed-skus': { figure: damageOr(lasted('slowestSaleMs', 'sold in ')) },
    starvation: {
      isAside: true,
      figure: ({ overtakes }) => (overtakes === undefined ? undefined : `${formatNumber(overtakes)} went first`),
    },
    overtaking: {
      isAside: true,
      figure: ({ overtaken, asked = 0 }) =>
        overtaken === undefined ? undefined : `${formatNumber(overtaken)} of ${formatNumber(asked)} overtaken`,
    },
    'lost-permit': { figure: taken },
    'failed-sale': { figure: lasted('nextSaleMs', 'next in ') },
    'forgotten-release': { isAside: true, figure: lasted('nextSaleMs', 'next in ') },
  },
  Outages: {
    failover: { figure: soldTwice },
    'forgotten-sale': { figure: forgotten },
    'wrong-replica': { figure: forgotten },
    'redis-outage': {
      figure: damageOr(({ slowestMs = 0, limitMs = Number.POSITIVE_INFINITY, backMs }, verdict) => {
        if (slowestMs > limitMs) return `answer in ${formatDuration(slowestMs)}`;
        if (backMs === undefined) return verdict === 'pass' ? 'back when the lease ends' : 'not back';
        return `back in ${formatDuration(backMs)}`;
      }),
    },
    'frozen-master': { figure: damageOr(({ costMs = 0 }) => `${formatDuration(costMs)} more`) },
    amnesia: { figure: soldTwice },
    'clock-jump': { figure: soldTwice, isAside: true },
    'lock-outage': {
      figure: damageOr(({ backMs }) => (backMs === undefined ? 'not back' : `back in ${formatDuration(backMs)}`)),
    },
  },
  'Cost and traces': {
    'long-wait': {
      figure: ({ bytesPerTry }) => (bytesPerTry === undefined ? undefined : `${formatNumber(bytesPerTry)} B a try`),
    },
    'client-gone': {
      figure: damageOr(({ emptyMs = 0, nextSaleMs = 0 }, verdict) =>
        verdict === 'fail' ? `next in ${formatDuration(nextSaleMs)}` : formatDuration(emptyMs),
      ),
    },
  },
};

/** Nodes whose Redis has a replica: without one, nothing is sold. */
const withReplica = { name: 'with a replica', options: { hasReplica: true } };

/** Strategies that do what a stage does in another way: they share its row, and are compared with it. */
const branches: Record<string, string> = { 'delete-if-equal': '6-lua-release', semaphore: 'redis-atomic' };

const stages = Object.keys(locks);

/** The result matrix of the locks. */
export const lockStaircase = readStaircase({
  title: 'The staircase',
  rowWord: 'stage',
  table,
  columns: Object.fromEntries(
    groups.flatMap((group) => Object.entries(columns[group]).map(([name, column]) => [name, { group, ...column }])),
  ),
  rowNames: [...stages, ...Object.keys(beyond)],
  row: rowNamed,
});

function rowNamed(name: string): UnreadRow {
  const number = numberOf(name);
  return {
    title: number === null ? `Beyond · ${name}` : `Stage ${number} · ${name.replace(/^\d+-/, '')}`,
    // What is beyond the stages comes after the last of them, but for what branches off before.
    before: branches[name] ?? stages[(number ?? stages.length) - 1],
    story: `locks/${number === null ? 'beyond/' : ''}${name}.ts`,
    backends: [backendOf(name)],
    ...(replicasOf(name) > 0 && { stack: withReplica }),
  };
}
