// Draws the growth chart: one panel per figure, one below the other, so that it is readable on a phone. It is also a file.

import { formatNumber } from '../narration/numbers.ts';
import { type Html, html } from '../report/escape.ts';
import type { Growth } from './growth.ts';

const WIDTH = 360;
const PANEL_HEIGHT = 250;
/** Where the lines are drawn, in a panel. The names stand on their right. */
const area = { left: 48, right: 250, top: 36, bottom: 206 };
/** The least distance of two names. */
const LINE_HEIGHT = 16;
/** A dash and a mark for each line: they can be told apart without colours. */
const dashes = ['none', '7 4', '2 4', '10 3 2 3'];
const MARK = 3.5;

interface Point {
  x: number;
  y: number;
}

/** What is measured of none has no line. */
export function drawGrowth(growths: Growth[]): Html {
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="growth" width="${WIDTH}" height="${PANEL_HEIGHT * growths.length}" viewBox="0 0 ${WIDTH} ${PANEL_HEIGHT * growths.length}" role="img" aria-labelledby="growth-title growth-desc" font-family="'Noto Sans', 'Helvetica Neue', Arial, sans-serif" font-size="13">
<title id="growth-title">What more connections and more nodes do to each lock</title>
<desc id="growth-desc">${growths.map(describe).join(' ')}</desc>
<style>
.growth .ground { fill: #fff; }
.growth text { fill: #14181f; }
.growth .heading { font-weight: 700; }
.growth .scale { fill: #4a5463; }
.growth .grid { stroke: #c9ced6; }
.growth .line-0 { --line: #0b5fa5; }
.growth .line-1 { --line: #c2410c; }
.growth .line-2 { --line: #1a7f37; }
.growth .line-3 { --line: #7a3ea8; }
.growth .line { stroke: var(--line); stroke-width: 2.5; fill: none; }
.growth .mark { fill: var(--line); }
@media (prefers-color-scheme: dark) {
.growth .ground { fill: #12151a; }
.growth text { fill: #eceef2; }
.growth .scale { fill: #a7afbb; }
.growth .grid { stroke: #3a424e; }
.growth .line-0 { --line: #7db7ff; }
.growth .line-1 { --line: #ff9466; }
.growth .line-2 { --line: #6fdd8b; }
.growth .line-3 { --line: #d2a8ff; }
}
</style>
<rect class="ground" width="${WIDTH}" height="${PANEL_HEIGHT * growths.length}" />
${growths.map((growth, at) => html`<g transform="translate(0 ${at * PANEL_HEIGHT})">${drawPanel(growth)}</g>\n`)}</svg>
`;
}

/** `Sales per second, with 10, 100 connections: cohort 1,147, 1,188.` */
function describe({ title, axis, at, format, lines }: Growth): string {
  const of = lines.map(({ name, values }) => `${name} ${values.map(told).join(', ')}`);
  return `${title}, with ${at.map(formatNumber).join(', ')} ${axis}: ${of.join('; ')}.`;

  function told(value: number) {
    return Number.isNaN(value) ? 'not measured' : format(value);
  }
}

function drawPanel(growth: Growth): Html {
  const { title, axis, at, lines } = growth;
  const { marks, heightOf } = scaleOf(growth);
  const xs = at.map((_, index) => area.left + 8 + ((area.right - area.left - 16) * index) / (at.length - 1));
  const drawn = lines
    .map(({ name, values }, index) => ({ name, index, points: pointsOf(values, xs, heightOf) }))
    .filter(({ points }) => points.length > 0);
  const names = apart(drawn.map(({ points }) => points.at(-1)?.y ?? 0));
  return html`<text class="heading" x="8" y="20">${title}</text>
${marks.map(
  (mark) =>
    html`<path class="grid" d="M${area.left} ${heightOf(mark)}H${area.right}" /><text class="scale" x="${area.left - 6}" y="${heightOf(mark) + 4}" text-anchor="end">${mark < 1 ? String(mark) : formatNumber(mark)}</text>\n`,
)}${at.map((value, index) => html`<text class="scale" x="${round(xs[index])}" y="${area.bottom + 18}" text-anchor="middle">${formatNumber(value)}</text>\n`)}<text class="scale" x="${(area.left + area.right) / 2}" y="${area.bottom + 35}" text-anchor="middle">${axis}</text>
${drawn.map(
  ({ name, index, points }, place) => html`<g class="line-${index % dashes.length}">
<path class="line" stroke-dasharray="${dashes[index % dashes.length]}" d="M${points.map(({ x, y }) => `${round(x)} ${round(y)}`).join('L')}" />
${points.map(({ x, y }) => html`<circle class="mark" cx="${round(x)}" cy="${round(y)}" r="${MARK}" />`)}
<text x="${area.right + 8}" y="${round(Number(names[place]) + 4)}">${name}</text></g>
`,
)}`;
}

const round = (value = 0) => Math.round(10 * value) / 10;

const pointsOf = (values: number[], xs: number[], heightOf: (value: number) => number): Point[] =>
  values.flatMap((value, index) => (Number.isNaN(value) ? [] : [{ x: Number(xs[index]), y: heightOf(value) }]));

/** The marks of the upright axis, and how far down a value is drawn: from zero on, or by its powers of ten. */
function scaleOf({ lines, isLogarithmic }: Growth) {
  const values = lines.flatMap((line) => line.values).filter((value) => value > 0);
  const [least, most] = [Math.min(1, ...values), Math.max(1, ...values)];
  const powers = { from: Math.floor(Math.log10(least)), until: Math.max(1, Math.ceil(Math.log10(most))) };
  const step = stepUpTo(most);
  const marks = isLogarithmic
    ? numbers(powers.until - powers.from + 1).map((index) => 10 ** (powers.from + index))
    : numbers(Math.ceil(most / step) + 1).map((index) => index * step);
  const shareOf = (value: number) =>
    isLogarithmic
      ? (Math.log10(Math.max(value, 10 ** powers.from)) - powers.from) / (powers.until - powers.from)
      : value / Number(marks.at(-1));
  return {
    marks,
    heightOf: (value: number) => round(area.bottom - (area.bottom - area.top) * shareOf(value)),
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A round distance of marks, of which at most five are needed up to there. */
function stepUpTo(most: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(most / 5));
  return [1, 2, 5, 10].map((factor) => factor * magnitude).find((step) => most / step <= 5) ?? most;
}

/** These heights, moved until no two names touch, in their order. */
function apart(heights: number[]): number[] {
  const order = heights.map((y, index) => ({ y, index })).sort((a, b) => a.y - b.y);
  for (const [at, each] of order.entries()) each.y = Math.max(each.y, (order[at - 1]?.y ?? 0) + LINE_HEIGHT);
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const each = order[at];
    if (each) each.y = Math.min(each.y, (order[at + 1]?.y ?? area.bottom + LINE_HEIGHT) - LINE_HEIGHT);
  }
  return order.toSorted((a, b) => a.index - b.index).map(({ y }) => y);
}
