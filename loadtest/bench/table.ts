// The tables of a bench, for the terminal and the page.

import Table from 'cli-table3';
import { countOf, formatDuration, formatMeasure, formatNumber, sum } from '../narration/numbers.ts';
import { type Figure, spreadOver } from './figures.ts';
import type { BenchResults, Spread } from './results.ts';

export interface Sheet {
  title: string;
  head: string[];
  /** A name, figures, and a remark at the end where the head ends with an empty text. */
  rows: string[][];
}

type Column = [head: string, figure: Figure, format: (value: number) => string];

const columns: Column[] = [
  ['CPU µs', ({ cpuMicros }) => cpuMicros?.processes, formatMeasure],
  ['nginx µs', ({ cpuMicros }) => cpuMicros?.nginx, formatMeasure],
  ['Redis µs', ({ cpuMicros }) => cpuMicros?.redis, formatMeasure],
  ['commands', ({ commandsPerAcquisition }) => commandsPerAcquisition, formatMeasure],
  ['wait p50', ({ waitMs }) => waitMs?.p50, formatDuration],
  ['wait p99', ({ waitMs }) => waitMs?.p99, formatDuration],
  ['wait max', ({ waitMs }) => waitMs?.max, formatDuration],
  ['p99 ÷ ideal', ({ p99ToIdeal }) => p99ToIdeal, formatRatio],
];

/** How wide a remark is on the terminal, which cuts it. The page has the whole of it. */
const REMARK_WIDTH = 52;

/** A table as text for a terminal. */
export function renderSheet({ title, head, rows }: Sheet): string {
  const last = head.length - 1;
  const table = new Table({
    head,
    colAligns: head.map((name, at) => (at === 0 || name === '' ? 'left' : 'right')),
    colWidths: head.map((_, at) =>
      at === last && rows.some((row) => (row[last] ?? '').length > REMARK_WIDTH) ? REMARK_WIDTH : null,
    ),
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows);
  return `${title}\n${table}`;
}

/** The terminal output of a run: a table for each number of waiters, and the ratios. */
export function renderTables(results: BenchResults): string {
  const sheets = results.settings.waiters.map((waiters) => figureSheet(results, waiters));
  const spinners = `CPUs kept awake: ${describeSpinners(results.settings)}.`;
  const tables = [...sheets, ratioSheet(results)].filter(({ rows }) => rows.length > 0).map(renderSheet);
  return [...tables, describeCpu(results), spinners].join('\n\n');
}

/** One contestant per row: the median of the rounds, and for the rate also the lowest and the highest. */
export function figureSheet({ mode, contestants, turns }: BenchResults, waiters: number): Sheet {
  const rivals = contestants.filter(({ name }) => turns.some((turn) => turn.name === name && turn.waiters === waiters));
  // What was measured of none has no column.
  const shown = columns.filter(([, figure]) => rivals.some(({ name }) => spreadOver(turns, name, waiters, figure)));
  const rows = rivals.map(({ name }) => {
    const spread = (figure: Figure) => spreadOver(turns, name, waiters, figure);
    const rate = spread(({ perSecond }) => perSecond);
    const cells = shown.map(([, figure, format]) => {
      const value = spread(figure)?.value;
      return value === undefined ? '–' : format(value);
    });
    const own = turns.filter((turn) => turn.name === name && turn.waiters === waiters);
    return [name, rate ? formatSpread(rate, formatNumber) : '–', ...cells, remarkOn(own)];
  });
  return { title: titleAt(mode, waiters), head: ['', 'per second', ...shown.map(([head]) => head), ''], rows };
}

export function remarkOn(turns: BenchResults['turns']): string {
  const all = turns.flatMap(({ figures }) => figures ?? []);
  const total = (read: (figures: (typeof all)[number]) => number) => sum(all.map(read));
  const lost = total(({ lostUpdates }) => lostUpdates);
  const starved = Math.max(0, ...all.map((figures) => figures.starved));
  const errors = total((figures) => figures.errors);
  const error = all.find((figures) => figures.error)?.error;
  const remarks = [
    lost > 0 && `NOT EXCLUSIVE: lost ${formatNumber(lost)} of ${formatNumber(total(({ sections }) => sections))}`,
    starved > 0 && `${formatNumber(starved)} starved`,
    errors > 0 && `${formatNumber(errors)} errors${error ? `, such as: ${error}` : ''}`,
    turns.find(({ failure }) => failure)?.failure,
  ];
  return remarks.filter(Boolean).join('; ');
}

export function ratioSheet({ ratios }: BenchResults): Sheet {
  const rows = Object.entries(ratios).map(([name, ratio]) => [name, formatSpread(ratio, formatRatio), '']);
  return { title: 'Ratios within this run', head: ['', 'measured', ''], rows };
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

/** What the CPU time in the tables is of, and what is not in it. */
export function describeCpu({ mode }: BenchResults): string {
  const of =
    mode === 'http'
      ? 'sale in µs, of the nodes, nginx and Redis. It excludes the buyers, MySQL, ZooKeeper and replicas.'
      : 'acquisition in µs, of the processes that wait and hold, and of Redis. It excludes replicas.';
  const ofNginx = mode === 'http' ? 'only Linux reports it for nginx, and ' : '';
  return `CPU time per ${of} Some of it may be missing: ${ofNginx}only a Redis that the bench starts reports its own, the embedded Valkey does not.`;
}

/** What kept the CPUs awake. */
export function describeSpinners({ spinners }: Pick<BenchResults['settings'], 'spinners'>): string {
  if (!spinners) return 'no, they may sleep (--no-spinners)';
  return `by ${countOf(spinners.count, 'spinner')} (${spinners.priority})`;
}

export function titleAt(mode: BenchResults['mode'], waiters: number): string {
  return mode === 'http' ? `${formatNumber(waiters)} connections` : `2 processes × ${formatNumber(waiters)} waiters`;
}
