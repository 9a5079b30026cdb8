// What is taught of the locks: the staircase of the course.

import { backendOf, beyond, locks, numberOf } from '../../locks/index.ts';
import { countOf, formatDuration, formatNumber } from '../evidence/numbers.ts';
import type { StepFigures } from '../evidence/results.ts';
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
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  failover
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  redis-outage
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  client-gone
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  starvation
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  overtaking
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  frozen-master
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  late-votes
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  amnesia
0-none             ✘  ✘  ✘  –  ·  ·  ·  –  ·  ·  ·  ·  ·  ·  ·  ·  ·  –  –  –  –  –  –
1-in-process       ✔  ✘  ✘  –  ·  ·  ·  –  ·  ·  ·  ·  ·  ·  ·  ·  ·  ✔  –  –  –  –  –
2-recursive-retry  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –
3-spin             ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –
4-ttl              ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –
5-owner-check      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –
6-lua-release      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –
7-reentrant        ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –
8-auto-renew       ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  ✘  ✔  ✔  ✘  ✘  –  –  –

bounded            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✔  ✘  ✘  ✘  ✔  ✔  ✘  ✘  –  –  –
blocking           ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  ✘  ✔  ✔  ✘  ✘  –  –  –
fair               ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  ✘  ✔  ✔  ✔  ✔  –  –  –
cohort             ✔  ✔  ✔  –  ✔  ✘  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✘  ✘  ✘  ✔  ✔  ✔  ✘  –  –  –
fenced-writes      ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✔  ✘  ✘  –  –  –
fenced             ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✘  ✘  –  –  –
redlock            ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✔  ✔  ✘  ✘  ✔  ✔  ✘
mysql-lock-table   ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✔  ✔  ✔  ✔  –  –  –
mysql-named        ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✔  ✔  ✔  ✔  ✔  –  –  –
mysql-pessimistic  ✔  ✔  ✔  –  ✔  ✘  ✔  –  –  ✔  ✔  ✔  ✔  –  –  –  –  ✔  ✔  ✔  –  –  –
mysql-optimistic   ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  –  –  –  –
mysql-conditional  ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  –  –  –  –
zookeeper          ✔  ✔  ✔  –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –
redis-atomic       ✔  ✔  ✔  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  –  –  –  –  –  –
`;

const lost = ({ lostUpdates, overlaps = 0, keptOutMs }: StepFigures) => {
  if (lostUpdates) return `${formatNumber(lostUpdates)} lost`;
  if (overlaps) return countOf(overlaps, 'overlap');
  return keptOutMs === undefined ? '0 lost' : `waited ${formatDuration(keptOutMs)}`;
};
const met = ({ overlaps = 0, keptOutMs }: StepFigures) =>
  keptOutMs === undefined || overlaps > 0 ? countOf(overlaps, 'overlap') : `waited ${formatDuration(keptOutMs)}`;
const taken = ({ takeoverMs, keptOutMs = 0 }: StepFigures) =>
  takeoverMs === undefined ? `none in ${formatDuration(keptOutMs)}` : `after ${formatDuration(takeoverMs)}`;
const within = (name: string) => (figures: StepFigures) => {
  const ms = figures[name];
  return ms === undefined ? undefined : formatDuration(ms);
};

const columns: Record<string, Column> = {
  'one-node-rush': { asks: 'does one node alone lose sales?', seconds: 2 },
  rush: { asks: 'do two nodes together lose sales?', seconds: 2 },
  'sell-out': { asks: 'is more sold than there is?', seconds: 2 },
  'long-wait': {
    asks: 'does waiting cost memory?',
    seconds: 4,
    figure: ({ bytesPerTry }) => (bytesPerTry === undefined ? undefined : `${formatNumber(bytesPerTry)} B a try`),
  },
  'crashed-holder': {
    asks: 'does the shop sell again after a holder has crashed?',
    seconds: 3,
    figure: taken,
  },
  'hung-holder': {
    asks: 'does the shop sell again while a sale hangs whose process lives?',
    seconds: 4,
    figure: taken,
  },
  'slow-holder': {
    asks: 'does a holder that was too slow harm the holders after it?',
    seconds: 4,
    figure: ({ overlaps = 0, keptOutMs }) =>
      keptOutMs === undefined ? `${formatNumber(overlaps)} others met` : `waited ${formatDuration(keptOutMs)}`,
  },
  'late-release': {
    asks: 'does a release that arrives late free the lock of another holder?',
    seconds: 3,
    figure: met,
  },
  'nested-call': {
    asks: 'may a holder ask for its own lock again?',
    seconds: 2,
    figure: within('answeredMs'),
  },
  'long-sale': {
    asks: 'does a sale keep its lock when it takes longer than the lease?',
    seconds: 7,
    figure: lost,
  },
  'paused-process': {
    asks: 'is a sale lost when a holder is paused and wakes up late?',
    seconds: 3,
    figure: lost,
  },
  'blocked-loop': {
    asks: 'is a sale lost when the business of a holder computes for long and never yields?',
    seconds: 3,
    figure: lost,
  },
  partition: {
    asks: 'is a sale lost when a node is cut off from its lock while a sale is inside?',
    seconds: 4,
    figure: lost,
  },
  'late-write': {
    asks: 'is a sale lost when a write arrives after the lease has ended?',
    seconds: 3,
    figure: lost,
  },
  'crossed-write': {
    asks: 'is a sale lost when a late write arrives between the read and the write of the next holder?',
    seconds: 2,
    figure: lost,
  },
  failover: {
    asks: 'is a sale lost when Redis fails over to a replica that never heard of the lock?',
    seconds: 3,
    figure: lost,
  },
  'redis-outage': {
    asks: 'are all buyers answered when Redis is away, and is no sale lost?',
    seconds: 9,
    figure: ({ lostUpdates = 0, backMs }) => {
      if (lostUpdates > 0) return `${formatNumber(lostUpdates)} lost`;
      return backMs === undefined ? 'not back' : `back in ${formatDuration(backMs)}`;
    },
  },
  'client-gone': {
    asks: 'do clients that hung up still wait for the lock?',
    seconds: 1,
    figure: within('emptyMs'),
  },
  starvation: {
    asks: 'how many go first that came later, while others come without end?',
    seconds: 3,
    figure: ({ overtakes }) => (overtakes === undefined ? undefined : `${formatNumber(overtakes)} went first`),
  },
  overtaking: {
    asks: 'do waiters enter in the order in which they asked?',
    seconds: 3,
    figure: ({ overtaken, asked }) =>
      overtaken === undefined ? undefined : `${formatNumber(overtaken)} of ${formatNumber(asked ?? 0)} overtaken`,
  },
  'frozen-master': {
    asks: 'do sales go on at the usual pace when one or two of the masters that vote stand still?',
    seconds: 2,
    figure: ({ costMs }) => (costMs === undefined ? undefined : `${formatDuration(costMs)} more`),
  },
  'late-votes': {
    asks: 'does a holder enter on votes that reach it when its lease is over?',
    seconds: 3,
    figure: lost,
  },
  amnesia: {
    asks: 'does another get in when a master that has voted restarts empty?',
    seconds: 2,
    figure: lost,
  },
};

const stages = Object.keys(locks);
const names = [...stages, ...Object.keys(beyond)];

/** The locks: the staircase of the course. */
export const lockStaircase = readStaircase({
  title: 'The staircase',
  rowWord: 'stage',
  table,
  columns,
  rows: Object.fromEntries(names.map((name) => [name, rowNamed(name)])),
});

function rowNamed(name: string): UnreadRow {
  const number = numberOf(name);
  return {
    title: number === null ? `Beyond · ${name}` : `Stage ${number} · ${name.replace(/^\d+-/, '')}`,
    ...(number !== null && { short: String(number) }),
    // What is beyond the stages comes after the last of them.
    before: stages[(number ?? stages.length) - 1],
    story: `locks/${number === null ? 'beyond/' : ''}${name}.ts`,
    backends: [backendOf(name)],
  };
}
