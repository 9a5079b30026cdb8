// The names of the figures, and how each is written.

import { formatDuration, formatMeasure, formatNumber } from '../evidence/numbers.ts';
import type { RushFigures, StepFigures } from '../evidence/results.ts';
import { type Html, html } from './escape.ts';

/** One line, or column, of a table of figures. */
export interface FigureLine<Figures = RushFigures> {
  name: string;
  read: (figures: Figures) => string;
  /** Whether the figure shows a broken lock. */
  isDamage?: (figures: Figures) => boolean;
}

/** The figures by which stages are compared. */
export const comparedFigures: FigureLine[] = [
  column('sold', ({ sold }) => sold),
  column('expected stock', ({ expectedStock }) => expectedStock),
  column('final stock', ({ finalStock }) => finalStock),
  { ...column('lost', ({ lostUpdates }) => lostUpdates), isDamage: ({ lostUpdates }) => lostUpdates !== 0 },
  { ...column('oversold', ({ oversold }) => oversold), isDamage: ({ oversold }) => oversold > 0 },
  column('sales/s', ({ throughput }) => throughput, formatMeasure),
  column('p50 ms', ({ latencyMs }) => latencyMs?.p50, formatMeasure),
  column('p99 ms', ({ latencyMs }) => latencyMs?.p99, formatMeasure),
  column('Redis/sale', ({ redisCommandsPerSale }) => redisCommandsPerSale, formatMeasure),
];

/** How a figure of a drill that goes step by step is named, where its own name does not say it: that one is told in words. */
const stepFigureNames: Record<string, string> = {
  takeoverMs: 'Until the other node sold again',
  keptOutMs: 'Nobody else could enter for',
  answeredMs: 'Until the nested sale was answered',
  slowestMs: 'Slowest answer without Redis',
  backMs: 'From the return of Redis to a sale',
  emptyMs: 'Until nobody waited',
  overtakes: 'Went first that had come later',
  usualMs: 'A sale took before the fault',
  costMs: 'A sale took longer by',
  limitMs: 'Allowed',
  meanwhile: 'Ticks that began meanwhile',
  late: 'Ticks that followed at once',
};

/** Every figure of a drill that goes step by step. */
export function stepLinesOf(figures: StepFigures): FigureLine<StepFigures>[] {
  return Object.keys(figures).map((key) => ({
    name: stepFigureNames[key] ?? inWords(key),
    read: ({ [key]: value = 0 }) => formatOf(key)(value),
    isDamage: ({ [key]: value = 0 }) => (key === 'lostUpdates' || key === 'overlaps') && value > 0,
  }));
}

/** `slowestSaleMs` as `Slowest sale`. */
function inWords(key: string): string {
  const words = key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function formatOf(key: string): (value: number) => string {
  if (key.endsWith('Ms')) return formatDuration;
  return (value) => (Number.isInteger(value) ? formatNumber(value) : formatMeasure(value));
}

/** What was not measured must never read as zero. */
function column(
  name: string,
  measured: (figures: RushFigures) => number | undefined,
  format = formatNumber,
): FigureLine {
  const read = (figures: RushFigures) => {
    const value = measured(figures);
    return value === undefined ? 'not measured' : format(value);
  };
  return { name, read };
}

/** A cell of a table; it stands out where the figure shows a broken lock. */
export function figureCell<Figures>({ read, isDamage }: FigureLine<Figures>, figures: Figures): Html {
  return html`<td class="${isDamage?.(figures) && 'damage'}">${read(figures)}</td>`;
}
