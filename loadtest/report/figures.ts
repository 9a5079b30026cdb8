// The names of the figures, and how each is written.

import { formatDuration, formatMeasure, formatNumber } from '../evidence/numbers.ts';
import type { RushFigures, StepFigures } from '../evidence/results.ts';
import { type Html, html } from './escape.ts';

/** What stands where a figure is absent: it must never read as zero. */
export const notMeasured = 'not measured';

/** One line, or column, of a table of figures. */
export interface FigureLine<Figures = RushFigures> {
  name: string;
  read: (figures: Figures) => string;
  /** Whether the figure shows a broken lock. */
  isDamage?: (figures: Figures) => boolean;
}

const sold = count('Sold', ({ sold }) => sold);
const expectedStock = count('Expected stock', ({ expectedStock }) => expectedStock);
const finalStock = count('Final stock', ({ finalStock }) => finalStock);
const lostUpdates = {
  ...count('Lost updates', (f) => f.lostUpdates),
  isDamage: (f: RushFigures) => f.lostUpdates !== 0,
};
const oversold = { ...count('Oversold', (f) => f.oversold), isDamage: (f: RushFigures) => f.oversold > 0 };
const throughput = measure('Sales per second', ({ throughput }) => throughput);
const p50 = measure('p50, ms', ({ latencyMs }) => latencyMs?.p50);
const p99 = measure('p99, ms', ({ latencyMs }) => latencyMs?.p99);
const redisCommands = measure('Redis commands per sale', ({ redisCommandsPerSale }) => redisCommandsPerSale);

/** The figures by which stages are compared. */
export const comparedFigures: FigureLine[] = [
  ...[sold, expectedStock, finalStock, lostUpdates, oversold],
  ...[throughput, p50, p99, redisCommands],
];

const allFigures: FigureLine[] = [
  count('Requests sent', ({ sent }) => sent),
  count('Answered', ({ answers }) => answers),
  count('Not answered', ({ errors }) => errors),
  count('Counted by the nodes', ({ received }) => received),
  sold,
  count('Sold out', ({ soldOut }) => soldOut),
  count('Lock timeouts', ({ lockTimeout }) => lockTimeout),
  count('Failed', ({ failed }) => failed),
  count('In doubt', ({ inDoubt }) => inDoubt),
  count('Initial stock', ({ initialStock }) => initialStock),
  expectedStock,
  finalStock,
  lostUpdates,
  oversold,
  { ...count('Overlaps', (f) => f.overlaps), isDamage: ({ overlaps = 0 }) => overlaps > 0 },
  measure('Longest free while wanted, ms', ({ longestFreeMs }) => longestFreeMs),
  throughput,
  p50,
  measure('p95, ms', ({ latencyMs }) => latencyMs?.p95),
  p99,
  measure('max, ms', ({ latencyMs }) => latencyMs?.max),
  redisCommands,
];

const conflicts = count('Conflicts', ({ conflicts }) => conflicts ?? 0);

/** Every figure of some drills. Each node that sold in any of them has a line of its own, and conflicts where there were any. */
export function linesOf(drills: RushFigures[]): FigureLine[] {
  const nodes = [...new Set(drills.flatMap(({ soldByNode }) => Object.keys(soldByNode)))].sort();
  const byNode = nodes.map((node) => count(`Sold by ${node}`, ({ soldByNode }) => soldByNode[node] ?? 0));
  const afterSold = allFigures.indexOf(sold) + 1;
  const ofConflicts = drills.some(({ conflicts }) => conflicts !== undefined) ? [conflicts] : [];
  return [...allFigures.slice(0, afterSold), ...byNode, ...allFigures.slice(afterSold), ...ofConflicts];
}

/** The figures of the drills that go step by step, in the order of a table. */
const stepFigureNames: Record<string, string> = {
  takeoverMs: 'Until the other node sold again',
  keptOutMs: 'Nobody else could enter for',
  enteredMeanwhile: 'Entered while the fault lasted',
  overlaps: 'Overlaps',
  otherKeys: 'Commands with another key',
  answeredMs: 'Until the nested sale was answered',
  bytesPerTry: 'Bytes that a failed try keeps',
  tries: 'Tries',
  sent: 'Requests sent',
  sold: 'Sold',
  soldMeanwhile: 'Sold while the fault lasted',
  refused: 'Refused',
  inDoubt: 'In doubt',
  expectedStock: 'Expected stock',
  finalStock: 'Final stock',
  lostUpdates: 'Lost updates',
  cutOff: 'Cut off',
  slowestMs: 'Slowest answer without Redis',
  baselineMs: 'Slowest answer that needs no Redis',
  backMs: 'From the return of Redis to a sale',
  emptyMs: 'Until nobody waited',
  stillWaiting: 'Still waiting',
  soldToNobody: 'Sold to clients that had gone',
  overtakes: 'Went first that had come later',
  waitedMs: 'The sale waited for',
  earlyAnswers: 'Answered while a sale was inside',
  readersAtOnce: 'Looked at the same time',
  overtaken: 'Overtaken',
  asked: 'Asked for the lock',
  nextSaleMs: 'The next sale took',
  unsold: 'Not sold',
  usualMs: 'A sale took before the fault',
  costMs: 'A sale took longer by',
  limitMs: 'Allowed',
  slowestSaleMs: 'The slowest sale took',
  due: 'Units due',
  restored: 'Units restored',
  closed: 'Orders closed',
  lateRuns: 'Late ticks that ran, all being done',
  lateRunsWithHold: 'Late ticks that ran with a minimum hold',
  meanwhile: 'Ticks that began meanwhile',
  late: 'Ticks that followed at once',
  clicks: 'Requests for one purchase',
  orders: 'Orders made',
  refunds: 'Refunds paid',
  messages: 'Messages sent',
  payments: 'Payments booked',
};

/**
 * Every figure of some runs of a drill that goes step by step. Which there are depends on how it went. A figure that this
 * version does not know keeps its own name.
 */
export function stepLinesOf(runs: StepFigures[]): FigureLine<StepFigures>[] {
  const measured = new Set(runs.flatMap((figures) => Object.keys(figures)));
  const known = Object.entries(stepFigureNames).filter(([key]) => measured.has(key));
  const others = [...measured].filter((key) => !Object.hasOwn(stepFigureNames, key)).map((key) => [key, key] as const);
  return [...known, ...others].map(([key, name]) => ({
    name,
    read: ({ [key]: value }) => (value === undefined ? '–' : formatOf(key)(value)),
    isDamage: (figures) =>
      (key === 'lostUpdates' || key === 'overlaps') && figures[key] !== undefined && figures[key] > 0,
  }));
}

function formatOf(key: string): (value: number) => string {
  if (key.endsWith('Ms')) return formatDuration;
  return (value) => (Number.isInteger(value) ? formatNumber(value) : formatMeasure(value));
}

type ReadFigure = (figures: RushFigures) => number | undefined;

function count(name: string, read: ReadFigure): FigureLine {
  return { name, read: (figures) => show(read(figures), formatNumber) };
}

function measure(name: string, read: ReadFigure): FigureLine {
  return { name, read: (figures) => show(read(figures), formatMeasure) };
}

function show(value: number | undefined, format: (value: number) => string) {
  return value === undefined ? notMeasured : format(value);
}

/** A cell of a table; it stands out where the figure shows a broken lock. */
export function figureCell<Figures>({ read, isDamage }: FigureLine<Figures>, figures: Figures): Html {
  return html`<td class="${isDamage?.(figures) && 'damage'}">${read(figures)}</td>`;
}
