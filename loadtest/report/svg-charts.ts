// Draws bars and lines as SVG, in the font and the colours of the page's styles.

import { formatDuration, formatNumber, listOf } from '../evidence/numbers.ts';
import type { StockPoint } from '../evidence/results.ts';
import { type Html, html } from './escape.ts';
import { roundMarks } from './timeline.ts';

/** An axis: its marks, of which the first and the last are its ends, and where a value stands, from 0 to 1. */
export interface Axis {
  ticks: number[];
  shareOf(value: number): number;
}

/** An axis that holds every value, and is marked at a few round numbers. */
export function evenAxis(values: number[]): Axis {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const atLeast = Math.max(1, (highest - lowest) / 3);
  const magnitude = 10 ** Math.floor(Math.log10(atLeast));
  const steps = [1, 2.5, 5, 10].map((factor) => factor * magnitude).filter(Number.isInteger);
  const step = steps.find((step) => step >= atLeast) ?? 1;
  const first = Math.floor(lowest / step);
  const last = Math.max(first + 1, Math.ceil(highest / step));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { ticks, shareOf: (value) => (value / step - first) / (last - first) };
}

/** A row of bars, each with its value on the right, in the colour of the legend's swatch that is named so. */
export interface BarRow {
  name: string;
  bars: {
    value: number;
    kind: 'expected' | 'final' | 'wrong' | 'peer';
    /** A thin line over the bar. */
    range?: { min: number; max: number };
  }[];
}

const fontSize = 15;
/** Of common fonts, as a part of the size: on the wide side, so that no text is cut. */
const letterWidth = { plain: 0.58, bold: 0.68 };
const lineHeight = 18;
const axisHeight = 28;
const rowsWidth = 480;
/** Names that are longer are cut. */
const longestName = 23;

/** Bars from zero, row under row: names on the left, values on the right. */
export function barChart(title: string, rows: BarRow[]): Html {
  const bars = rows.flatMap((row) => row.bars);
  const axis = evenAxis([0, ...bars.flatMap(({ value, range }) => (range ? [range.min, range.max] : [value]))]);
  const names = rows.map(({ name }) => (name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name));
  const left = roomFor(names, letterWidth.plain);
  const right =
    rowsWidth -
    roomFor(
      bars.map(({ value }) => formatNumber(value)),
      letterWidth.bold,
    );
  const at = (value: number) => tenth(left + axis.shareOf(value) * (right - left));
  const lines = Math.max(1, ...rows.map((row) => row.bars.length));
  const rowHeight = lines * lineHeight + 10;
  const bottom = rows.length * rowHeight;
  const says = rows.map((row) => `${row.name}: ${listOf(row.bars.map(({ value }) => formatNumber(value)))}.`);
  const content = html`<desc>${says.join(' ')}</desc>
${axis.ticks.map((tick) => html`<path class="grid" d="M${at(tick)} 0V${bottom}"/>${label(formatNumber(tick), at(tick), bottom + 20, 'middle')}`)}
${rows.map((row, i) => {
  const top = i * rowHeight + 5;
  return html`${label(names[i] ?? '', left - 8, top + (lines * lineHeight) / 2 + 5, 'end')}
${row.bars.map((bar, line) => drawBar(bar, top + line * lineHeight))}`;
})}
<path class="axis" d="M${at(0)} 0V${bottom}"/>`;
  return svg(title, rowsWidth, bottom + axisHeight, content);

  function drawBar({ value, kind, range }: BarRow['bars'][number], top: number): Html {
    const width = Math.max(2, tenth(Math.abs(at(value) - at(0))));
    return html`<rect class="${kind}" x="${Math.min(at(0), at(value))}" y="${top + 2}" width="${width}" height="14"/>
${range !== undefined && html`<path class="range" d="M${at(range.min)} ${top + 4}v10m0 -5H${at(range.max)}m0 -5v10"/>`}
${label(formatNumber(value), right + 8, top + 14, 'start', kind)}`;
  }
}

/** The stock as it went down, against what it should have been after the sales made by then. */
export function stockChart(title: string, points: StockPoint[], axis: Axis): Html {
  const [left, right, top, bottom] = [66, 318, 8, 160];
  const endMs = Math.max(1, points.at(-1)?.ms ?? 0);
  const x = (ms: number) => tenth(left + (ms / endMs) * (right - left));
  const y = (stock: number) => tenth(bottom - axis.shareOf(stock) * (bottom - top));
  const was = points.map(({ ms, stock }) => `${x(ms)} ${y(stock)}`);
  const expected = points.map(({ ms, expected }) => `${x(ms)} ${y(expected)}`);
  const kind = points.every(({ stock, expected }) => stock === expected) ? 'final' : 'wrong';
  const content = html`${axis.ticks.map((tick) => html`<path class="grid" d="M${left} ${y(tick)}H${right}"/>${label(formatNumber(tick), left - 8, y(tick) + 5, 'end')}`)}
${roundMarks(endMs, 4).map((ms) => label(ms === 0 ? '0' : formatDuration(ms), x(ms), bottom + 20, 'middle'))}
<path class="axis" d="M${left} ${top}V${bottom}H${right}"/>
${kind === 'wrong' && html`<path class="gap" d="M${[...was, ...expected.toReversed()].join('L')}Z"/>`}
<path class="stock ${kind}" d="M${was.join('L')}"/>
<path class="stock expected" d="M${expected.join('L')}"/>`;
  return svg(title, 340, bottom + axisHeight, content);
}

function svg(title: string, width: number, height: number, content: Html): Html {
  return html`<svg class="chart" role="img" viewBox="0 0 ${width} ${height}" font-size="${fontSize}">
<title>${title}</title>
${content}
</svg>`;
}

function label(text: string, x: number, y: number, anchor: 'start' | 'middle' | 'end', kind = ''): Html {
  return html`<text${kind !== '' && html` class="${kind}"`} x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>\n`;
}

/** The width of the longest text, with a gap beside it. */
function roomFor(texts: string[], width: number): number {
  return Math.max(0, ...texts.map(({ length }) => length)) * fontSize * width + 10;
}

const tenth = (value: number) => Math.round(value * 10) / 10;
