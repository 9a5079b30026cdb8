// What each stage left in stock.

import type { Results } from '../evidence/results.ts';
import { type BarRow, barTable } from './bars.ts';
import { type MeasuredDrill, measuredRushes, questionOf } from './cells.ts';
import { type Html, html } from './escape.ts';
import { comparedFigures, figureCell } from './figures.ts';

/** What each stage left in stock, drill by drill, with its speed beside it. */
export function finalStock(results: Results): Html | false {
  const drills = measuredRushes(results);
  if (drills.length === 0) return false;
  return html`<section>
<h2>The final stock</h2>
<ul class="legend">
<li><i class="swatch expected"></i> expected stock: the initial stock minus the units sold</li>
<li><i class="swatch final"></i> final stock, as expected</li>
<li><i class="swatch wrong"></i> final stock, not as expected</li>
</ul>
${drills.map(stockTable)}</section>`;
}

function stockTable({ drill, stages }: MeasuredDrill): Html {
  const rows = stages.map(({ stage, figures }): BarRow => {
    const { expectedStock, finalStock } = figures;
    const kind = finalStock === expectedStock ? 'final' : 'wrong';
    return {
      name: stage,
      bars: [
        { value: expectedStock, kind: 'expected' },
        { value: finalStock, kind },
      ],
      cells: comparedFigures.map((line) => figureCell(line, figures)),
    };
  });
  const title = [drill, questionOf(drill)].filter(Boolean).join(': ');
  return barTable(
    title,
    comparedFigures.map(({ name }) => name),
    rows,
  );
}
