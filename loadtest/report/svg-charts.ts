// Draws charts as SVG, in the font and the colours of the page's styles.

import { formatDuration, formatNumber, listOf } from '../evidence/numbers.ts';
import type { StockPoint } from '../evidence/results.ts';
import { type Html, html } from './escape.ts';
import { notMeasured } from './figures.ts';
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

/** A logarithmic axis, marked at powers of ten from a tenth at the least: what is below its first mark stands there. */
export function logAxis(values: number[]): Axis {
  const positive = values.filter((value) => value > 0);
  const first = Math.max(-1, Math.floor(Math.log10(Math.min(1, ...positive))));
  const last = Math.ceil(Math.log10(Math.max(10, ...positive)));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
  return { ticks, shareOf: (value) => Math.max(0, (Math.log10(value) - first) / (last - first)) };
}

/** A row of bars, each with its value on the right, in the colour of the legend's swatch that is named so. */
export interface BarRow {
  name: string;
  bars: Bar[];
}

interface Bar {
  value: number;
  text: string;
  kind: 'expected' | 'final' | 'wrong' | 'peer';
  /** A thin line over the bar. */
  range?: { min: number; max: number };
}

/** How long something took, in milliseconds. */
interface Span {
  p50: number;
  p99: number;
  max: number;
}

/** `span` is absent when nothing was measured. */
export interface SpanRow {
  name: string;
  span?: Span | undefined;
}

const fontSize = 15;
/** Of common fonts, as a part of the size: on the wide side, so that no text is cut. */
const letterWidth = { plain: 0.58, bold: 0.68 };
const lineHeight = 18;
const axisHeight = 28;
const rowsWidth = 480;
/** Names that are longer are cut. */
const longestName = 23;

/** Bars from zero, row under row. */
export function barChart(title: string, rows: BarRow[], axisOf = evenAxis): Html {
  const ends = rows.flatMap(({ bars }) =>
    bars.flatMap(({ value, range }) => (range === undefined ? [value] : [range.min, range.max])),
  );
  const drawn = rows.map(({ name, bars }) => ({
    name,
    texts: bars,
    says: listOf(bars.map(({ text }) => text)),
    draw: (at: At, top: number) => html`${bars.map((bar, i) => drawBar(bar, at, top + i * lineHeight))}`,
  }));
  return rowChart(title, drawn, axisOf([0, ...ends]), formatNumber);
}

function drawBar({ value, kind, range }: Bar, at: At, top: number): Html {
  const width = Math.max(2, tenth(Math.abs(at(value) - at(0))));
  return html`<rect class="${kind}" x="${Math.min(at(0), at(value))}" y="${top + 2}" width="${width}" height="14"/>
${range !== undefined && html`<path class="range" d="M${at(range.min)} ${top + 4}v10m0 -5H${at(range.max)}m0 -5v10"/>`}`;
}

/** From p50 to the maximum of each row, with a mark at p99 and its value on the right, on a logarithmic axis. */
export function spanChart(title: string, rows: SpanRow[]): Html {
  const drawn = rows.map(({ name, span }): Row => {
    if (span === undefined) return { name, texts: [{ text: notMeasured }], says: notMeasured, draw: () => false };
    const [p50, p99, max] = [span.p50, span.p99, span.max].map(formatDuration);
    return {
      name,
      texts: [{ text: p99 ?? '', kind: 'final' }],
      says: `p50 ${p50}, p99 ${p99}, max ${max}`,
      draw: (at, top) => drawSpan(span, at, top),
    };
  });
  const values = rows.flatMap(({ span }) => (span === undefined ? [] : [span.p50, span.max]));
  return rowChart(title, drawn, logAxis(values), formatDuration);
}

function drawSpan({ p50, p99, max }: Span, at: At, top: number): Html {
  const middle = top + lineHeight / 2;
  return html`<path class="span" d="M${at(p50)} ${middle}H${at(max)}"/>
<circle class="p50" cx="${at(p50)}" cy="${middle}" r="6"/>
<circle class="p99" cx="${at(p99)}" cy="${middle}" r="6.5"/>
<path class="max" d="M${at(max)} ${top}v${lineHeight}"/>`;
}

/** Where a value stands, in the units of a chart. */
type At = (value: number) => number;

interface Row {
  name: string;
  /** What stands right of it, line under line. */
  texts: { text: string; kind?: Bar['kind'] }[];
  /** What it shows, in words. */
  says: string;
  draw(at: At, top: number): Html | false;
}

/** Names on the left, values on the right, and between them what each row draws. */
function rowChart(title: string, rows: Row[], axis: Axis, format: (value: number) => string): Html {
  const names = rows.map(({ name }) => (name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name));
  const texts = rows.flatMap((row) => row.texts.map(({ text }) => text));
  const left = roomFor(names, letterWidth.plain);
  const right = rowsWidth - roomFor(texts, letterWidth.bold);
  const at: At = (value) => tenth(left + axis.shareOf(value) * (right - left));
  const lines = Math.max(1, ...rows.map(({ texts }) => texts.length));
  const rowHeight = lines * lineHeight + 10;
  const bottom = rows.length * rowHeight;
  // More than five would stand in each other's way.
  const named = axis.ticks.filter((_, i) => axis.ticks.length <= 5 || i % 2 === 0);
  const content = html`<desc>${rows.map(({ name, says }) => `${name}: ${says}.`).join(' ')}</desc>
${axis.ticks.map((tick) => html`<path class="grid" d="M${at(tick)} 0V${bottom}"/>`)}
${named.map((tick) => label(format(tick), at(tick), bottom + 20, 'middle'))}
${rows.map(({ texts, draw }, i) => {
  const top = i * rowHeight + 5;
  return html`${label(names[i] ?? '', left - 8, top + (lines * lineHeight) / 2 + 5, 'end')}
${draw(at, top)}
${texts.map(({ text, kind }, line) => label(text, right + 8, top + line * lineHeight + 14, 'start', kind))}`;
})}
<path class="axis" d="M${at(0)} 0V${bottom}"/>`;
  return svg(title, rowsWidth, bottom + axisHeight, content);
}

/** The stock as it went down, against what it should have been after the sales made by then. */
export function stockChart(title: string, points: StockPoint[], axis: Axis): Html {
  const [left, right, top, bottom] = [66, 318, 8, 160];
  const endMs = Math.max(1, points.at(-1)?.ms ?? 0);
  const x: At = (ms) => tenth(left + (ms / endMs) * (right - left));
  const y: At = (stock) => tenth(bottom - axis.shareOf(stock) * (bottom - top));
  const was = points.map(({ ms, stock }) => `${x(ms)} ${y(stock)}`);
  const expected = points.map(({ ms, expected }) => `${x(ms)} ${y(expected)}`);
  const kind = points.every(({ stock, expected }) => stock === expected) ? 'final' : 'wrong';
  const content = html`${axis.ticks.map((tick) => html`<path class="grid" d="M${left} ${y(tick)}H${right}"/>`)}
${axis.ticks.map((tick) => label(formatNumber(tick), left - 8, y(tick) + 5, 'end'))}
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

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
