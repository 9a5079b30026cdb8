// The tables of a bench, for the terminal and for the page.

import Table from 'cli-table3';
import { formatDuration, formatMeasure, formatNumber } from '../evidence/numbers.ts';
import { type Figure, isReached, spreadOver, targets } from './figures.ts';
import type { BenchResults, Spread, TurnFigures } from './results.ts';

/** What the tables of the terminal and of the report show, column by column. */
export const columns: { head: string; read: Figure; format: (value: number) => string }[] = [
  { head: 'per second', read: ({ perSecond }) => perSecond, format: formatNumber },
  { head: 'Redis commands', read: ({ commandsPerAcquisition }) => commandsPerAcquisition, format: formatMeasure },
  { head: 'wait p50', read: ({ waitMs }) => waitMs?.p50, format: formatDuration },
  { head: 'wait p99', read: ({ waitMs }) => waitMs?.p99, format: formatDuration },
  { head: 'wait max', read: ({ waitMs }) => waitMs?.max, format: formatDuration },
  { head: 'p99 ÷ ideal', read: ({ p99ToIdeal }) => p99ToIdeal, format: formatRatio },
];

export interface Row {
  name: string;
  /** A figure for each column; undefined where nothing was measured. */
  cells: (Spread | undefined)[];
  remarks: string[];
}

/** The rows of one table: a contestant each, in the order of the bench. */
export function rowsAt({ contestants, turns }: BenchResults, waiters: number): Row[] {
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
export function formatCell(cell: Spread | undefined, column: number, hasRoom: boolean): string {
  const format = columns[column]?.format;
  if (cell === undefined || format === undefined) return '–';
  return hasRoom ? formatSpread(cell, format) : format(cell.value);
}

/** `6,650 (6,500–6,700)` */
function formatSpread({ value, min, max }: Spread, format: (value: number) => string): string {
  const [middle, low, high] = [format(value), format(min), format(max)];
  return low === middle && high === middle ? middle : `${middle} (${low}–${high})`;
}

/** Two decimals below ten: `0.93`, `2.10`, `12`. */
function formatRatio(value: number): string {
  return value < 10 ? value.toFixed(2) : formatNumber(value);
}

/** A row for each target: the ratio, what it must be, and whether it is. */
export function targetRows({
  ratios,
}: BenchResults): { name: string; says: string; ratio?: string; goal: string; isReached?: boolean }[] {
  return Object.entries(targets).map(([name, { atLeast, atMost, says }]) => {
    const ratio = ratios[name];
    const reached = isReached(name, ratio);
    return {
      name,
      says,
      ...(ratio && { ratio: formatSpread(ratio, formatRatio) }),
      goal: atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`,
      ...(reached !== undefined && { isReached: reached }),
    };
  });
}

/** All tables, as text for a terminal. */
export function renderTables(results: BenchResults): string {
  const { mode, settings } = results;
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
        ...cells.map((cell, column) => formatCell(cell, column, column === 0)),
        shorten(remarks.join('; ')),
      ]);
    }
    return `${titleAt(mode, waiters)}\n${table}`;
  });
  if (mode === 'http') {
    const price = new Table({ head: ['with orders ÷ without', 'sales per second'], style });
    price.push(...orderRows(results));
    return [...tables, ...(price.length > 0 ? [price] : [])].join('\n\n');
  }

  const ratios = new Table({ head: ['ratio', 'measured', 'target', ''], style });
  for (const { name, ratio, goal, isReached } of targetRows(results)) {
    ratios.push([
      name,
      ratio ?? 'not measured',
      goal,
      isReached === undefined ? '' : isReached ? '✔ reached' : '✘ not reached',
    ]);
  }
  return [...tables, ratios.toString()].join('\n\n');
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
