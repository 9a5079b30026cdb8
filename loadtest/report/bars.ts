// Bars as a table: a name, a bar from zero on, and its value. The browser finds the width of each column.

import { formatNumber } from '../evidence/numbers.ts';
import { type Html, html } from './escape.ts';

/** A row of bars, each in the colour of the legend's swatch that is named so. */
export interface BarRow {
  name: string;
  bars: {
    value: number;
    kind: 'expected' | 'final' | 'wrong' | 'peer';
    /** A thin line over the bar. */
    range?: { min: number; max: number };
  }[];
}

/** All bars share one scale, which has zero in it. */
export function barChart(title: string, rows: BarRow[]): Html {
  const values = rows.flatMap(({ bars }) => bars.flatMap(({ value, range }) => [value, ...Object.values(range ?? {})]));
  const [lowest, highest] = [Math.min(0, ...values), Math.max(1, ...values)];

  /** Where a bar from one value to another lies, in hundredths of the scale. */
  function place(from: number, until: number): string {
    const share = (value: number) => Math.round((10_000 * value) / (highest - lowest)) / 100;
    return `left: ${share(Math.min(from, until) - lowest)}%; width: ${share(Math.abs(until - from))}%`;
  }
  const row = ({ name, bars }: BarRow) =>
    bars.map(
      ({ value, kind, range }, i) => html`<tr>${i === 0 && html`<th scope="row" rowspan="${bars.length}">${name}</th>`}
<td class="track"><i class="${kind}" style="${place(0, value)}"></i>${range && html`<i class="range" style="${place(range.min, range.max)}"></i>`}</td>
<td class="${kind}">${formatNumber(value)}</td></tr>\n`,
    );
  return html`<table class="bars" aria-label="${title}">${rows.map((each) => html`<tbody>${row(each)}</tbody>\n`)}</table>`;
}
