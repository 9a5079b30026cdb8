// The sections of the page that are charts.

import { formatDuration, formatNumber } from '../evidence/numbers.ts';
import { type DrillResult, type Results, rushFigures } from '../evidence/results.ts';
import { type MeasuredDrill, measuredRushes, questionOf, ranStaircases } from './cells.ts';
import { type Html, html } from './escape.ts';
import { comparedFigures, figureCell } from './figures.ts';
import { type Axis, type BarRow, barChart, evenAxis, stockChart } from './svg-charts.ts';

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

/** The stock in the course of every rush. Those of one drill share the stock axis. */
export function stockOfRushes(results: Results): Html | false {
  const drills = ranStaircases(results)
    .flatMap(({ drills }) => drills)
    .map((drill) => ({ drill, rushes: rushesOf(results, drill) }))
    .filter(({ rushes }) => rushes.length > 0);
  if (drills.length === 0) return false;
  return html`<section>
<h2>The stock during each rush</h2>
<ul class="legend">
<li><i class="line expected"></i> what it should have been after the sales made by then</li>
<li><i class="line final"></i> what it was, as expected</li>
<li><i class="line wrong"></i> what it was, not as expected</li>
</ul>
${drills.map(({ drill, rushes }) => {
  const points = rushes.flatMap(({ result }) => result.stockOverTime);
  const axis = evenAxis(points.flatMap(({ stock, expected }) => [stock, expected]));
  return html`<h3>${drill}</h3>\n<div class="charts small">\n${rushes.map((rush) => drawRush(rush, axis))}</div>\n`;
})}</section>`;
}

interface Rush {
  stage: string;
  result: DrillResult;
}

/** The rushes of one drill whose course was recorded. */
function rushesOf({ stages }: Results, drill: string): Rush[] {
  return stages.flatMap(({ stage, drills }) =>
    drills
      .filter((result) => result.drill === drill && result.stockOverTime.length > 1)
      .map((result) => ({ stage, result })),
  );
}

/** The figures say how it ended: the last writes of two nodes may be recorded in another order than they were made. */
function drawRush({ stage, result }: Rush, axis: Axis): Html {
  const { drill, stockOverTime } = result;
  const figures = rushFigures(result);
  const end = stockOverTime.at(-1);
  const stock = figures?.finalStock ?? end?.stock ?? 0;
  const expected = figures?.expectedStock ?? end?.expected ?? 0;
  const isWrong = stock !== expected;
  const ending = `${formatNumber(stock)}${isWrong ? ` instead of ${formatNumber(expected)}` : ', as expected'}, in ${formatDuration(end?.ms ?? 0)}`;
  const chart = stockChart(`Stock of ${stage} during ${drill}: ${ending}`, stockOverTime, axis);
  return html`<figure class="${isWrong && 'wrong'}"><figcaption><b>${stage}</b><br>${ending}</figcaption>${chart}</figure>\n`;
}

function drillCaption(drill: string): Html {
  const question = questionOf(drill);
  return html`<b>${drill}</b>${question !== undefined && `: ${question}`}`;
}
