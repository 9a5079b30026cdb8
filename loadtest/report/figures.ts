// The names of the figures, how each is written, and what each stage left in stock.

import type { Results, RushFigures, StepFigures } from '../evidence/results.ts';
import { capitalised, formatDuration, formatMeasure, formatNumber } from '../narration/numbers.ts';
import { type BarRow, barTable } from './bars.ts';
import { type MeasuredDrill, measuredRushes, questionOf } from './cells.ts';
import { type Html, html } from './escape.ts';
import { anchor } from './marks.ts';

/** A figure in a table. */
interface Shown {
  name: string;
  text: string;
  /** Whether the figure shows a broken lock. */
  isDamage?: boolean;
  /** Nobody knows it: that must never read as zero. */
  isUnknown?: true;
}

export const SOLD_TWICE = 'sold twice';
export const OVERSOLD = 'oversold';

/** The figures by which stages are compared. */
export function comparedFigures(figures: RushFigures): Shown[] {
  const { sold, expectedStock, finalStock, lostUpdates, oversold, throughput, latencyMs } = figures;
  const measure = (name: string, value?: number) => ({
    name,
    text: value === undefined ? 'not measured' : formatMeasure(value),
    ...(value === undefined && { isUnknown: true as const }),
  });
  return [
    { name: 'sold', text: formatNumber(sold) },
    { name: 'expected stock', text: formatNumber(expectedStock) },
    { name: 'final stock', text: formatNumber(finalStock) },
    { name: SOLD_TWICE, text: formatNumber(lostUpdates), isDamage: lostUpdates !== 0 },
    { name: OVERSOLD, text: formatNumber(oversold), isDamage: oversold > 0 },
    measure('sales/s', throughput),
    measure('p50 ms', latencyMs?.p50),
    measure('p99 ms', latencyMs?.p99),
    measure('Redis/sale', figures.redisCommandsPerSale),
  ];
}

/** How a figure of a drill that goes step by step is named, where its own name does not say it: that one is told in words. */
const stepFigureNames: Record<string, string> = {
  takeoverMs: 'Until the other node sold again',
  keptOutMs: 'Nobody else could enter for',
  answeredMs: 'Until the nested sale was answered',
  slowestMs: 'Slowest answer without Redis',
  backMs: 'From the return of Redis to a sale',
  emptyMs: 'Until nobody waited',
  lostUpdates: 'Sold twice',
  mostInside: 'Most inside at once',
  overtakes: 'Went first that had come later',
  usualMs: 'A sale took before the fault',
  costMs: 'A sale took longer by',
  limitMs: 'Allowed',
  meanwhile: 'Ticks that began meanwhile',
  late: 'Ticks that followed at once',
};

/** Every figure of a drill that goes step by step. */
export function shownFigures(figures: StepFigures): Shown[] {
  return Object.entries(figures).map(([key, value]) => ({
    name: stepFigureNames[key] ?? inWords(key),
    text: textOf(key, value),
    isDamage: (key === 'lostUpdates' || key === 'overlaps') && value > 0,
  }));
}

/** `slowestSaleMs` as `Slowest sale`. */
function inWords(key: string): string {
  const words = key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return capitalised(words);
}

function textOf(key: string, value: number): string {
  if (key.endsWith('Ms')) return formatDuration(value);
  return Number.isInteger(value) ? formatNumber(value) : formatMeasure(value);
}

/** A cell of a table; it stands out where the figure shows a broken lock. */
export function figureCell({ text, isDamage = false }: Shown): Html {
  return html`<td class="${isDamage && 'damage'}">${text}</td>`;
}

/** What each stage left in stock, drill by drill, with its speed beside it. */
export function finalStock(results: Results): Html | false {
  const drills = measuredRushes(results);
  if (drills.length === 0) return false;
  return html`<section id="${anchor('The final stock')}">
<h2>The final stock</h2>
<ul class="legend">
<li><i class="swatch expected"></i> expected stock: the initial stock minus the units sold</li>
<li><i class="swatch final"></i> final stock, as expected</li>
<li><i class="swatch wrong"></i> final stock, not as expected</li>
</ul>
${drills.map(stockTable)}</section>`;
}

function stockTable({ drill, stages }: MeasuredDrill): Html {
  const shown = stages.map(({ figures }) => comparedFigures(figures));
  const rows = stages.map(({ stage, figures: { expectedStock, finalStock } }, row): BarRow => {
    const kind = finalStock === expectedStock ? 'final' : 'wrong';
    return {
      name: stage,
      bars: [
        { value: expectedStock, kind: 'expected' },
        { value: finalStock, kind },
      ],
      cells: shown[row]?.map(figureCell) ?? [],
    };
  });
  const title = [drill, questionOf(drill)].filter(Boolean).join(': ');
  const heads = shown[0]?.map(({ name }) => name) ?? [];
  return barTable(title, heads, rows);
}
