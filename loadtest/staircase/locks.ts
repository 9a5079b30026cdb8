// What is taught of the locks: the staircase of the course.

import { backendOf, beyond, locks, numberOf, replicasOf } from '../../locks/index.ts';
import { countOf, formatDuration, formatNumber } from '../evidence/numbers.ts';
import type { StepFigures } from '../evidence/results.ts';
import { questionOfPage } from './questions.ts';
import { type Column, readStaircase, type UnreadRow } from './staircase.ts';

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
0-none             ✘  ✘  ✘  –  ·  ·  ·  –  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  –  –  –  –  –  –  ·
1-in-process       ✔  ✘  ✘  –  ·  ·  ·  –  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  –  –  –  –  –  ·
2-recursive-retry  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
3-spin             ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
4-ttl              ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
5-owner-check      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
6-lua-release      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
7-reentrant        ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
8-auto-renew       ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘

delete-if-equal    ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·  –  –  –  ·
bounded            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘
blocking           ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘
fair               ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✔  ✔  –  –  –  ✘
cohort             ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✔  ✘  –  –  –  ✘
combine            ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✘  –  –  ✘  ✘  –  ✔  ✔  ✔  ✘  –  –  –  ✔
read-write         ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  ✔  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✘
fenced-writes      ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔
fenced             ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔
buckets            ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔
multi              ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✘  ✘  –  ✔  ✔  ✘  ✘  –  –  –  ✔
replicated         ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  –  –  –  ✔  ✔  ✘  ✔  ✔  ✘  ✘  –  –  –  ·
redlock            ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✘  ✘  ✔  ✔  ✘  ✘
mysql-lock-table   ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔  –  –  –  –
mysql-named        ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔  –  –  –  –
mysql-pessimistic  ✔  ✔  ✔  –  ✔  ✘  ✔  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  ✔  ✔  ✔  –  –  –  –
mysql-optimistic   ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  –  –  –  –  –  –  –
mysql-conditional  ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  –  –  –  –  –  –  –
zookeeper          ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔  –  –  –  –
redis-atomic       ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  ✔  –  –  –  –  ✔  ✘  –  ✔  –  –  –  –  –  –  –
`;

const lost = ({ lostUpdates, overlaps = 0, keptOutMs }: StepFigures) => {
  if (lostUpdates) return `${formatNumber(lostUpdates)} lost`;
  if (overlaps) return countOf(overlaps, 'overlap');
  return keptOutMs === undefined ? '0 lost' : `waited ${formatDuration(keptOutMs)}`;
};
const met = ({ overlaps = 0, keptOutMs }: StepFigures) =>
  keptOutMs === undefined || overlaps > 0 ? countOf(overlaps, 'overlap') : `waited ${formatDuration(keptOutMs)}`;
/** Of a sale that was refused no answer can be forgotten. */
const forgotten = ({ lostUpdates = 0, sold }: StepFigures) => {
  if (sold === undefined) return undefined;
  return sold === 0 ? 'refused' : `${formatNumber(lostUpdates)} forgotten`;
};
const taken = ({ takeoverMs, keptOutMs = 0 }: StepFigures) =>
  takeoverMs === undefined ? `none in ${formatDuration(keptOutMs)}` : `after ${formatDuration(takeoverMs)}`;

/** A drill that is no page says here what it asks. */
const columns: Record<string, Omit<Column, 'asks'> & { asks?: string }> = {
  'one-node-rush': { group: 'Safety', asks: 'does one node alone lose sales?' },
  rush: { group: 'Safety', asks: 'do two nodes together lose sales?' },
  'sell-out': { group: 'Safety', asks: 'is more sold than there is?' },
  'long-wait': {
    group: 'Cost and traces',
    figure: ({ bytesPerTry }) => (bytesPerTry === undefined ? undefined : `${formatNumber(bytesPerTry)} B a try`),
  },
  'crashed-holder': { group: 'Liveness', figure: taken },
  'hung-holder': { group: 'Liveness', figure: taken },
  'slow-holder': { group: 'Safety', figure: met },
  'late-release': { group: 'Safety', figure: (figures) => (figures['otherKeys'] ? 'another key' : met(figures)) },
  'nested-call': {
    group: 'Liveness',
    figure: ({ answeredMs, overlaps = 0 }) => {
      if (overlaps > 0) return countOf(overlaps, 'overlap');
      return answeredMs === undefined ? undefined : formatDuration(answeredMs);
    },
  },
  'long-sale': { group: 'Safety', figure: lost },
  'paused-process': { group: 'Safety', figure: lost },
  'blocked-loop': { group: 'Safety', figure: lost },
  partition: { group: 'Safety', isAside: true, figure: lost },
  'late-write': { group: 'Safety', figure: lost },
  'crossed-write': { group: 'Safety', figure: lost },
  'late-batch': {
    group: 'Safety',
    figure: ({ lostUpdates = 0, inDoubt = 0 }) =>
      lostUpdates > 0 ? lost({ lostUpdates }) : `${formatNumber(inDoubt)} in doubt`,
  },
  'early-read': {
    group: 'Safety',
    figure: ({ earlyAnswers = 0, readersAtOnce, overtakes, waitedMs }) => {
      if (earlyAnswers > 0) return `${formatNumber(earlyAnswers)} too early`;
      if (readersAtOnce === 1) return 'one by one';
      if (overtakes === undefined || waitedMs === undefined) return undefined;
      return `sold after ${formatDuration(waitedMs)}`;
    },
  },
  'crossed-skus': {
    group: 'Liveness',
    figure: ({ unsold = 0, lostUpdates = 0, slowestSaleMs = 0 }) => {
      if (unsold > 0) return `${formatNumber(unsold)} not sold`;
      return lostUpdates > 0 ? lost({ lostUpdates }) : `sold in ${formatDuration(slowestSaleMs)}`;
    },
  },
  failover: { group: 'Outages', figure: lost },
  'forgotten-sale': { group: 'Outages', figure: forgotten },
  'wrong-replica': { group: 'Outages', figure: forgotten },
  'redis-outage': {
    group: 'Outages',
    figure: ({ lostUpdates = 0, cutOff = 0, slowestMs = 0, limitMs = Number.POSITIVE_INFINITY, backMs }) => {
      if (lostUpdates > 0) return `${formatNumber(lostUpdates)} lost`;
      if (cutOff > 0) return `${formatNumber(cutOff)} cut off`;
      if (slowestMs > limitMs) return `answer in ${formatDuration(slowestMs)}`;
      return backMs === undefined ? 'not back' : `back in ${formatDuration(backMs)}`;
    },
  },
  'client-gone': {
    group: 'Cost and traces',
    figure: ({ emptyMs = 0, stillWaiting = 0, soldToNobody = 0, nextSaleMs = 0 }, verdict) => {
      if (stillWaiting > 0) return `${formatNumber(stillWaiting)} still wait`;
      if (soldToNobody > 0) return `${formatNumber(soldToNobody)} to nobody`;
      return verdict === 'fail' ? `next in ${formatDuration(nextSaleMs)}` : formatDuration(emptyMs);
    },
  },
  starvation: {
    group: 'Liveness',
    isAside: true,
    figure: ({ overtakes }) => (overtakes === undefined ? undefined : `${formatNumber(overtakes)} went first`),
  },
  overtaking: {
    group: 'Liveness',
    isAside: true,
    figure: ({ overtaken, asked }) =>
      overtaken === undefined ? undefined : `${formatNumber(overtaken)} of ${formatNumber(asked ?? 0)} overtaken`,
  },
  'frozen-master': {
    group: 'Outages',
    figure: ({ unsold = 0, lostUpdates = 0, overlaps = 0, costMs = 0, limitMs = 0 }) => {
      if (unsold > 0) return `${formatNumber(unsold)} not sold`;
      if (costMs <= limitMs && lostUpdates + overlaps > 0) return lost({ lostUpdates, overlaps });
      return `${formatDuration(costMs)} more`;
    },
  },
  'late-votes': { group: 'Safety', figure: lost },
  amnesia: { group: 'Outages', figure: lost },
  'clock-jump': { group: 'Outages', isAside: true, figure: lost },
};

/** Nodes whose Redis has a replica: without one nobody sells. */
const withReplica = { name: 'with a replica', options: { hasReplica: true } };

/** Strategies that are another way to do what a stage does: its row is theirs, and they are compared with it. */
const branches: Record<string, string> = { 'delete-if-equal': '6-lua-release' };

const stages = Object.keys(locks);
const names = [...stages, ...Object.keys(beyond)];

/** The locks: the staircase of the course. */
export const lockStaircase = readStaircase({
  title: 'The staircase',
  rowWord: 'stage',
  table,
  columns: Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, { asks: questionOfPage(name) ?? '', ...column }]),
  ),
  rows: Object.fromEntries(names.map((name) => [name, rowNamed(name)])),
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
