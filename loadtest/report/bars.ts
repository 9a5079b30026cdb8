// A table of figures whose rows begin with bars, from zero on.

import { type Html, html } from './escape.ts';

/** A bar, in the colour of the legend's swatch that is named so. */
export interface Bar {
  value: number;
  kind: 'expected' | 'final' | 'wrong' | 'peer';
  /** A thin line over the bar. */
  range?: { min: number; max: number };
}

export interface BarRow {
  name: string;
  bars: Bar[];
  /** Each a `td`. */
  cells: Html[];
}

/** All bars of the table share one scale, which has zero in it. `heads` are those of the cells. */
export function barTable(title: string, heads: string[], rows: BarRow[]): Html {
  const values = rows.flatMap(({ bars }) => bars.flatMap(({ value, range }) => [value, ...Object.values(range ?? {})]));
  const [lowest, highest] = [Math.min(0, ...values), Math.max(1, ...values)];

  /** Where a bar from one value to another lies, in hundredths of the scale. */
  function place(from: number, until: number): string {
    const share = (value: number) => Math.round((10_000 * value) / (highest - lowest)) / 100;
    return `left: ${share(Math.min(from, until) - lowest)}%; width: ${share(Math.abs(until - from))}%`;
  }
  const draw = ({ value, kind, range }: Bar) =>
    html`<div class="track"><i class="${kind}" style="${place(0, value)}"></i>${range && html`<i class="range" style="${place(range.min, range.max)}"></i>`}</div>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="figures">
<caption>${title}</caption>
<thead><tr><th></th><th></th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(({ name, bars, cells }) => html`<tr><th scope="row">${name}</th><td class="${bars.length > 0 && 'bars'}">${bars.map(draw)}</td>${cells}</tr>\n`)}</tbody>
</table></div>
`;
}
