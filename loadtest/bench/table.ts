// The tables of a bench, for the terminal and for the page.

import Table from 'cli-table3';
import { countOf, formatDuration, formatMeasure, formatNumber } from '../evidence/numbers.ts';
import { type Figure, isReached, type Ratio, ratiosIn, spreadOver } from './figures.ts';
import type { BenchResults, Spread, TurnFigures } from './results.ts';

export interface Column {
  head: string;
  read: Figure;
  format: (value: number) => string;
}

/** What the tables of the terminal and of the report show, column by column. */
export function columnsOf(mode: BenchResults['mode']): Column[] {
  const isHttp = mode === 'http';
  return [
    { head: 'per second', read: ({ perSecond }) => perSecond, format: formatNumber },
    { head: isHttp ? 'nodes µs' : 'CPU µs', read: ({ cpuMicros }) => cpuMicros?.processes, format: formatMeasure },
    ...(isHttp
      ? [{ head: 'nginx µs', read: ({ cpuMicros }: TurnFigures) => cpuMicros?.nginx, format: formatMeasure }]
      : []),
    { head: 'Redis µs', read: ({ cpuMicros }) => cpuMicros?.redis, format: formatMeasure },
    { head: 'commands', read: ({ commandsPerAcquisition }) => commandsPerAcquisition, format: formatMeasure },
    { head: 'wait p50', read: ({ waitMs }) => waitMs?.p50, format: formatDuration },
    { head: 'wait p99', read: ({ waitMs }) => waitMs?.p99, format: formatDuration },
    { head: 'wait max', read: ({ waitMs }) => waitMs?.max, format: formatDuration },
    ...(isHttp
      ? []
      : [{ head: 'p99 ÷ ideal', read: ({ p99ToIdeal }: TurnFigures) => p99ToIdeal, format: formatRatio }]),
  ];
}

export interface Row {
  name: string;
  /** A figure for each column; undefined where nothing was measured. */
  cells: (Spread | undefined)[];
  remarks: string[];
}

/** The rows of one table: a contestant each, in the order of the bench. */
export function rowsAt({ mode, contestants, turns }: BenchResults, waiters: number): Row[] {
  const columns = columnsOf(mode);
  const measured = contestants.filter(({ name }) =>
    turns.some((turn) => turn.name === name && turn.waiters === waiters),
  );
  return measured.map(({ name }) => {
    const own = turns.filter((turn) => turn.name === name && turn.waiters === waiters);
    const total = (read: (figures: TurnFigures) => number) =>
      own.reduce((sum, { figures }) => sum + (figures ? read(figures) : 0), 0);
    const lost = total(({ lostUpdates }) => lostUpdates);
    const starved = Math.max(...own.map(({ figures }) => figures?.starved ?? 0));
    const errors = total((figures) => figures.errors);
    const error = own.find(({ figures }) => figures?.error)?.figures?.error;
    const failure = own.find((turn) => turn.failure)?.failure;
    return {
      name,
      cells: columns.map(({ read }) => spreadOver(turns, name, waiters, read)),
      remarks: [
        ...(lost > 0
          ? [`NOT ALONE: lost ${formatNumber(lost)} of ${formatNumber(total(({ sections }) => sections))}`]
          : []),
        ...(starved > 0 ? [`${formatNumber(starved)} starved`] : []),
        ...(errors > 0 ? [`${formatNumber(errors)} errors${error ? `, such as: ${error}` : ''}`] : []),
        ...(failure ? [failure] : []),
      ],
    };
  });
}

/** The text of a cell in this column: the median, and the lowest and highest round where there is room for them. */
export function formatCell(cell: Spread | undefined, { format }: Column, hasRoom: boolean): string {
  if (cell === undefined) return '–';
  return hasRoom ? formatSpread(cell, format) : format(cell.value);
}

/** `6,650 (6,500–6,700)` */
function formatSpread({ value, min, max }: Spread, format: (value: number) => string): string {
  const [middle, low, high] = [format(value), format(min), format(max)];
  return low === middle && high === middle ? middle : `${middle} (${low}–${high})`;
}

/** Two decimals below ten: `0.93`, `2.10`, `12`. */
export function formatRatio(value: number): string {
  return value < 10 ? value.toFixed(2) : formatNumber(value);
}

export interface RatioRow {
  name: string;
  says: string;
  /** The median of the rounds, and the lowest and the highest. Absent when it was not measured. */
  ratio?: string;
  /** By how much the highest round is above the lowest. */
  apart?: string;
  /** What it must be; empty when that is open. */
  goal: string;
  isReached?: boolean;
}

/** A row for each ratio of this kind of run. */
export function ratioRows({ mode, ratios }: BenchResults): RatioRow[] {
  return ratiosIn(mode).map((ratio) => {
    const { name, says } = ratio;
    const measured = ratios[name];
    const reached = isReached(ratio, measured);
    return {
      name,
      says,
      ...(measured && { ratio: formatSpread(measured, formatRatio), apart: formatApart(measured.min, measured.max) }),
      goal: goalOf(ratio),
      ...(reached !== undefined && { isReached: reached }),
    };
  });
}

function goalOf({ atLeast, atMost }: Ratio): string {
  if (atLeast !== undefined) return `≥ ${atLeast}`;
  return atMost === undefined ? '' : `≤ ${atMost}`;
}

/** By how much the highest value is above the lowest: `19 %`. */
export function formatApart(lowest: number, highest: number): string {
  return lowest > 0 ? `${formatNumber(100 * (highest / lowest - 1))} %` : '–';
}

/** What the CPU time in the tables is of, and what is not in it. */
export function describeCpu({ mode, turns, environment }: BenchResults): string {
  const has = (part: 'nginx' | 'redis') => turns.some(({ figures }) => figures?.cpuMicros?.[part] !== undefined);
  const whyNoRedis =
    environment.redis.kind === 'external' ? 'others may use it, too' : 'the embedded Valkey does not tell';
  return [
    mode === 'http'
      ? 'CPU time per sale in µs: of the two nodes, of nginx and of Redis. That of the buyers, of MySQL, of ZooKeeper and of replicas is not in it.'
      : 'CPU time per acquisition in µs: of the processes that wait and hold, and of Redis. That of replicas is not in it.',
    ...(mode === 'http' && !has('nginx')
      ? ['nginx was not measured: only Linux tells what another process has used.']
      : []),
    ...(has('redis') ? [] : [`Redis was not measured: ${whyNoRedis}.`]),
  ].join(' ');
}

/** What kept the CPUs awake. */
export function describeSpinners({ spinners }: Pick<BenchResults['settings'], 'spinners'>): string {
  if (spinners === null) return 'no, they may sleep (--no-spinners)';
  return `by ${countOf(spinners.count, 'spinner')} (${spinners.priority})`;
}

/** All tables, as text for a terminal. */
export function renderTables(results: BenchResults): string {
  const { mode, settings } = results;
  const columns = columnsOf(mode);
  const style = { head: [], border: [], compact: true };
  const tables = settings.waiters.map((waiters) => {
    const table = new Table({
      head: ['', ...columns.map(({ head }) => head), ''],
      colAligns: ['left', ...columns.map(() => 'right' as const), 'left'],
      style,
    });
    for (const { name, cells, remarks } of rowsAt(results, waiters)) {
      // Only the rate with its spread: a terminal is narrow.
      table.push([
        name,
        ...columns.map((column, index) => formatCell(cells[index], column, index === 0)),
        shorten(remarks.join('; ')),
      ]);
    }
    return `${titleAt(mode, waiters)}\n${table}`;
  });
  const ratios = new Table({ head: ['ratio', 'measured', 'rounds apart', 'target', ''], style });
  for (const { name, ratio, apart, goal, isReached } of ratioRows(results)) {
    ratios.push([
      name,
      ratio ?? 'not measured',
      apart ?? '',
      goal,
      isReached === undefined ? '' : isReached ? '✔ reached' : '✘ not reached',
    ]);
  }
  const price = new Table({ head: ['with orders ÷ without', 'sales per second'], style });
  price.push(...orderRows(results));
  return [
    ...tables,
    describeCpu(results),
    ...(price.length > 0 ? [price.toString()] : []),
    ratios.toString(),
    `CPUs kept awake: ${describeSpinners(settings)}.`,
  ].join('\n\n');
}

/** What an order costs: the name of each ratio and its value. */
export function orderRows({ ratios }: BenchResults): [string, string][] {
  return Object.entries(ratios)
    .filter(([name]) => name.includes('+orders/'))
    .map(([name, ratio]) => [name, formatSpread(ratio, formatRatio)]);
}

/** The report has the whole of it. */
function shorten(text: string): string {
  return text.length <= 50 ? text : `${text.slice(0, 49)}…`;
}

export function titleAt(mode: BenchResults['mode'], waiters: number): string {
  return mode === 'http' ? `${formatNumber(waiters)} connections` : `2 processes × ${formatNumber(waiters)} waiters`;
}
