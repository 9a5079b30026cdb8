// What each stage left in stock, as bars and as a table.

import type { Results } from '../evidence/results.ts';
import { type BarRow, barChart } from './bars.ts';
import { type MeasuredDrill, measuredRushes, questionOf } from './cells.ts';
import { type Html, html } from './escape.ts';
import { comparedFigures, figureCell } from './figures.ts';

/** What each stage left in stock, drill by drill: a picture, and a table with its speed beside it. */
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
<div class="charts">
${drills.map((measured) => html`<figure><figcaption>${drillCaption(measured.drill)}</figcaption>${stockByStage(measured)}</figure>\n`)}</div>
${drills.map(stockTable)}</section>`;
}

function stockTable({ drill, stages }: MeasuredDrill): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="The final stock of ${drill}">
<table class="figures">
<caption>${drill}</caption>
<thead><tr><th scope="col">stage</th>${comparedFigures.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${stages.map(({ stage, figures }) => html`<tr><th scope="row">${stage}</th>${comparedFigures.map((line) => figureCell(line, figures))}</tr>\n`)}</tbody>
</table>
</div>
`;
}

function stockByStage({ drill, stages }: MeasuredDrill): Html {
  const rows = stages.map(({ stage, figures: { expectedStock, finalStock } }): BarRow => {
    const kind = finalStock === expectedStock ? 'final' : 'wrong';
    return {
      name: stage,
      bars: [
        { value: expectedStock, kind: 'expected' },
        { value: finalStock, kind },
      ],
    };
  });
  return barChart(`Expected and final stock of ${drill} by stage`, rows);
}

function drillCaption(drill: string): Html {
  const question = questionOf(drill);
  return html`<b>${drill}</b>${question !== undefined && `: ${question}`}`;
}
