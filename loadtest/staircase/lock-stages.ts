// The expected results of the locks: the result matrix of the course.

import { backendOf, beyond, locks, numberOf, replicasOf } from '../../locks/index.ts';
import type { StepFigures } from '../evidence/results.ts';
import type { Both } from '../narration/language.ts';
import { countOf, formatNumber } from '../narration/numbers.ts';
import { durationSaid, either } from '../narration/spoken.ts';
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

/** The damage that a cell shows first of all, with its word. */
const damages: Record<string, (count: string) => string> = {
  unsold: (count) => either(`${count} not sold`, `${count} 笔没有卖出`),
  earlyAnswers: (count) => either(`${count} too early`, `${count} 次太早`),
  lostUpdates: (count) => either(`${count} sold twice`, `重复卖出 ${count} 件`),
  cutOff: (count) => either(`${count} cut off`, `中断 ${count} 个`),
  stillWaiting: (count) => either(`${count} still wait`, `${count} 笔仍在等待`),
  soldToNobody: (count) => either(`${count} to nobody`, `${count} 件卖给了已离开的客户端`),
};
const damageIn = (figures: StepFigures) => {
  const [found] = Object.entries(damages).filter(([name]) => (figures[name] ?? 0) > 0);
  if (found !== undefined) return found[1](formatNumber(figures[found[0]] ?? 0));
  return figures['overlaps'] ? overlapsIn(figures['overlaps']) : undefined;
};
const overlapsIn = (overlaps: number) => either(countOf(overlaps, 'overlap'), `重叠 ${formatNumber(overlaps)} 次`);
/** The damage, and where there is none what `otherwise` says. */
const damageOr =
  (otherwise: Figure): Figure =>
  (figures, verdict) =>
    damageIn(figures) ?? otherwise(figures, verdict);
/** How long a figure lasted, in these words. Nothing where it was not measured. */
const lasted =
  (name: string, words: (duration: string) => string = (duration) => duration): Figure =>
  ({ [name]: ms }) =>
    ms === undefined ? undefined : words(durationSaid(ms));

const waited = lasted('keptOutMs', (ms) => either(`waited ${ms}`, `等待 ${ms}`));
const soldTwice = damageOr((figures, verdict) => waited(figures, verdict) ?? either('0 sold twice', '无重复卖出'));
const met = damageOr((figures, verdict) => waited(figures, verdict) ?? either('0 overlaps', '无重叠'));
const nextIn = lasted('nextSaleMs', (ms) => either(`next in ${ms}`, `${ms}后卖出下一件`));
const soldIn = (ms: string) => either(`sold in ${ms}`, `${ms}内卖出`);
const notBack = () => either('not back', '没有恢复');
const backIn = (ms: number) => either(`back in ${durationSaid(ms)}`, `${durationSaid(ms)}后恢复`);
const inDoubtIn = (sales: number) => either(`${formatNumber(sales)} in doubt`, `${formatNumber(sales)} 笔结果不明`);
/** Of a sale that was refused no answer can be forgotten. */
const forgotten: Figure = ({ lostUpdates = 0, sold }) => {
  if (sold === undefined) return undefined;
  const units = formatNumber(lostUpdates);
  return sold === 0 ? either('refused', '被拒绝') : either(`${units} forgotten`, `丢失 ${units} 件`);
};
const taken: Figure = ({ takeoverMs, keptOutMs = 0 }) =>
  takeoverMs === undefined
    ? either(`none in ${durationSaid(keptOutMs)}`, `${durationSaid(keptOutMs)}内无人卖出`)
    : either(`after ${durationSaid(takeoverMs)}`, `${durationSaid(takeoverMs)}后卖出`);

const insideAtOnce: Figure = ({ mostInside }) =>
  mostInside === undefined ? undefined : either(`${mostInside} inside`, `${mostInside} 个同时进入`);

/** The questions of drills without a scenario file. */
const columns: Record<Group, Record<string, Partial<Column>>> = {
  Safety: {
    'one-node-rush': { asks: 'does one node alone sell a unit twice?' },
    rush: { asks: 'do two nodes together sell a unit twice?' },
    'sell-out': { asks: 'are more units sold than there are in stock?' },
    'slow-holder': { figure: met },
    'late-release': {
      figure: (figures, verdict) => (figures['otherKeys'] ? either('another key', '别的键') : met(figures, verdict)),
    },
    'long-sale': { figure: soldTwice },
    'paused-process': { figure: soldTwice },
    'blocked-loop': { figure: soldTwice },
    partition: { figure: soldTwice, isAside: true },
    'late-write': { figure: soldTwice },
    'crossed-write': { figure: soldTwice },
    'late-batch': { figure: damageOr(({ inDoubt = 0 }) => inDoubtIn(inDoubt)) },
    'early-read': {
      figure: damageOr((figures, verdict) =>
        figures['readersAtOnce'] === 1
          ? either('one by one', '逐个进入')
          : lasted('waitedMs', (ms) => either(`sold after ${ms}`, `${ms}后卖出`))(figures, verdict),
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
    'crossed-skus': { figure: damageOr(lasted('slowestSaleMs', soldIn)) },
    starvation: {
      isAside: true,
      figure: ({ overtakes }) =>
        overtakes === undefined
          ? undefined
          : either(`${formatNumber(overtakes)} went first`, `${formatNumber(overtakes)} 个插队`),
    },
    overtaking: {
      isAside: true,
      figure: ({ overtaken, asked = 0 }) =>
        overtaken === undefined
          ? undefined
          : either(
              `${formatNumber(overtaken)} of ${formatNumber(asked)} overtaken`,
              `${formatNumber(asked)} 个中 ${formatNumber(overtaken)} 个被插队`,
            ),
    },
    'lost-permit': { figure: taken },
    'failed-sale': { figure: nextIn },
    'forgotten-release': { isAside: true, figure: nextIn },
  },
  Outages: {
    failover: { figure: soldTwice },
    'forgotten-sale': { figure: forgotten },
    'wrong-replica': { figure: forgotten },
    'redis-outage': {
      figure: damageOr(({ slowestMs = 0, limitMs = Number.POSITIVE_INFINITY, backMs }, verdict) => {
        if (slowestMs > limitMs)
          return either(`answer in ${durationSaid(slowestMs)}`, `响应用了 ${durationSaid(slowestMs)}`);
        if (backMs !== undefined) return backIn(backMs);
        return verdict === 'pass' ? either('back when the lease ends', '租期结束后恢复') : notBack();
      }),
    },
    'frozen-master': {
      figure: damageOr(({ costMs = 0 }) => either(`${durationSaid(costMs)} more`, `多用 ${durationSaid(costMs)}`)),
    },
    amnesia: { figure: soldTwice },
    'clock-jump': { figure: soldTwice, isAside: true },
    'lock-outage': {
      figure: damageOr(({ backMs }) => (backMs === undefined ? notBack() : backIn(backMs))),
    },
  },
  'Cost and traces': {
    'long-wait': {
      figure: ({ bytesPerTry }) =>
        bytesPerTry === undefined
          ? undefined
          : either(`${formatNumber(bytesPerTry)} B a try`, `每次重试 ${formatNumber(bytesPerTry)} B`),
    },
    'client-gone': {
      figure: damageOr(({ emptyMs = 0, nextSaleMs = 0 }, verdict) =>
        verdict === 'fail' ? nextIn({ nextSaleMs }, verdict) : durationSaid(emptyMs),
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
  title: ['The result matrix', '结果表'],
  rowWord: ['stage', '阶段'],
  table,
  columns: Object.fromEntries(
    groups.flatMap((group) => Object.entries(columns[group]).map(([name, column]) => [name, { group, ...column }])),
  ),
  rowNames: [...stages, ...Object.keys(beyond)],
  row: rowNamed,
});

function titleOf(number: number | null, name: string): Both {
  if (number === null) return [`Beyond · ${name}`, `阶段 8 之后 · ${name}`];
  const short = name.replace(/^\d+-/, '');
  return [`Stage ${number} · ${short}`, `阶段 ${number} · ${short}`];
}

function rowNamed(name: string): UnreadRow {
  const number = numberOf(name);
  return {
    title: titleOf(number, name),
    // What is beyond the stages comes after the last of them, but for what branches off before.
    before: branches[name] ?? stages[(number ?? stages.length) - 1],
    story: `locks/${number === null ? 'beyond/' : ''}${name}.ts`,
    backends: [backendOf(name)],
    ...(replicasOf(name) > 0 && { stack: withReplica }),
  };
}
