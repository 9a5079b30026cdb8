import type { Figures } from '../results.ts';
import { formatMeasure, formatNumber } from './numbers.ts';

/** What stands where a figure is absent: it must never read as zero. */
export const notMeasured = 'not measured';

/** One line, or column, of a table of figures. */
export interface FigureLine {
  name: string;
  read: (figures: Figures) => string;
  /** Whether the figure shows a broken lock. */
  isDamage?: (figures: Figures) => boolean;
}

const sold = count('Sold', ({ sold }) => sold);
const expectedStock = count('Expected stock', ({ expectedStock }) => expectedStock);
const finalStock = count('Final stock', ({ finalStock }) => finalStock);
const lostUpdates = { ...count('Lost updates', (f) => f.lostUpdates), isDamage: (f: Figures) => f.lostUpdates !== 0 };
const oversold = { ...count('Oversold', (f) => f.oversold), isDamage: (f: Figures) => f.oversold > 0 };
const throughput = measure('Sales per second', ({ throughput }) => throughput);
const p50 = measure('p50, ms', ({ latencyMs }) => latencyMs?.p50);
const p99 = measure('p99, ms', ({ latencyMs }) => latencyMs?.p99);
const redisCommands = measure('Redis commands per sale', ({ redisCommandsPerSale }) => redisCommandsPerSale);

/** The figures by which stages are compared. */
export const comparedFigures: FigureLine[] = [
  sold,
  expectedStock,
  finalStock,
  lostUpdates,
  oversold,
  throughput,
  p50,
  p99,
  redisCommands,
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
  throughput,
  p50,
  measure('p95, ms', ({ latencyMs }) => latencyMs?.p95),
  p99,
  measure('max, ms', ({ latencyMs }) => latencyMs?.max),
  redisCommands,
];

/** Every figure of some drills. Each node that sold in any of them has a line of its own. */
export function linesOf(drills: Figures[]): FigureLine[] {
  const nodes = [...new Set(drills.flatMap(({ soldByNode }) => Object.keys(soldByNode)))].sort();
  const byNode = nodes.map((node) => count(`Sold by ${node}`, ({ soldByNode }) => soldByNode[node] ?? 0));
  const afterSold = allFigures.indexOf(sold) + 1;
  return [...allFigures.slice(0, afterSold), ...byNode, ...allFigures.slice(afterSold)];
}

type ReadFigure = (figures: Figures) => number | undefined;

function count(name: string, read: ReadFigure): FigureLine {
  return { name, read: (figures) => tell(read(figures), formatNumber) };
}

function measure(name: string, read: ReadFigure): FigureLine {
  return { name, read: (figures) => tell(read(figures), formatMeasure) };
}

function tell(value: number | undefined, format: (value: number) => string) {
  return value === undefined ? notMeasured : format(value);
}
