// The sections of the page that are charts.

import { formatDuration, formatNumber } from '../evidence/numbers.ts';
import { type DrillResult, type Results, rushFigures } from '../evidence/results.ts';
import { measuredRushes, questionOf, ranStaircases, type StageFigures } from './cells.ts';
import { type Html, html } from './escape.ts';
import { figureCell, stockFigures } from './figures.ts';
import { type Axis, type BarRow, barChart, evenAxis, spanChart, stockChart } from './svg-charts.ts';

/** What each stage left in stock: the table of the first rush, and a picture of every one. */
export function finalStock(results: Results): Html | false {
  const drills = measuredRushes(results);
  const tabled = drills.find(({ drill }) => drill === 'rush') ?? drills[0];
  if (tabled === undefined) return false;
  return html`<section>
<h2>The final stock</h2>
<div class="scroll" tabindex="0" role="region" aria-label="The final stock of ${tabled.drill}">
<table class="figures">
<caption>${drillCaption(tabled.drill)}</caption>
<thead><tr><th scope="col">stage</th>${stockFigures.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${tabled.stages.map(
  ({ stage, figures }) =>
    html`<tr><th scope="row">${stage}</th>${stockFigures.map((line) => figureCell(line, figures))}</tr>\n`,
)}</tbody>
</table>
</div>
<ul class="legend">
<li><i class="swatch expected"></i> expected stock: the initial stock minus the units sold</li>
<li><i class="swatch final"></i> final stock, as expected</li>
<li><i class="swatch wrong"></i> final stock, not as expected</li>
</ul>
<div class="charts">
${drills.map(({ drill, stages }) => figure(drillCaption(drill), stockByStage(drill, stages)))}</div>
</section>`;
}

function stockByStage(drill: string, stages: StageFigures[]): Html {
  const rows = stages.map(
    ({ stage, figures: { expectedStock, finalStock } }): BarRow => ({
      name: stage,
      bars: [
        { value: expectedStock, text: formatNumber(expectedStock), kind: 'expected' },
        {
          value: finalStock,
          text: formatNumber(finalStock),
          kind: finalStock === expectedStock ? 'final' : 'wrong',
        },
      ],
    }),
  );
  return barChart(`Expected and final stock of ${drill} by stage`, rows);
}

/** How long the sales of each stage took, drill by drill. */
export function latency(results: Results): Html | false {
  const drills = measuredRushes(results);
  if (drills.length === 0) return false;
  return html`<section>
<h2>How long a sale took</h2>
<ul class="legend">
<li><i class="dot p50"></i> p50: half of the sales were faster</li>
<li><i class="dot p99"></i> p99: one in a hundred was slower; its value stands on the right</li>
<li><i class="dot max"></i> the slowest</li>
</ul>
<p>Successful sales only. Each mark of the axis stands for ten times the one before.</p>
<div class="charts">
${drills.map(({ drill, stages }) => figure(drillCaption(drill), latencyOf(drill, stages)))}</div>
</section>`;
}

function latencyOf(drill: string, stages: StageFigures[]): Html {
  const rows = stages.map(({ stage, figures }) => ({ name: stage, span: figures.latencyMs }));
  return spanChart(`Latency of ${drill} by stage`, rows);
}

/** The stock in the course of every rush. */
export function stockOfRushes(results: Results): Html | false {
  const drills = ranStaircases(results)
    .flatMap(({ drills }) => drills)
    .map((drill) => ({ drill, rushes: rushesOf(results, drill) }))
    .filter(({ rushes }) => rushes.length > 0);
  if (drills.length === 0) return false;

  const isOneStage = drills.every(({ rushes }) => rushes.length === 1);
  const drawn = drills.map(({ drill, rushes }) => ({
    drill,
    figures: rushes.map((rush) => drawRush(rush, axisOf(rushes), isOneStage ? drill : rush.stage)),
  }));
  return html`<section>
<h2>The stock during each rush</h2>
<ul class="legend">
<li><i class="line expected"></i> what it should have been after the sales made by then</li>
<li><i class="line final"></i> what it was, as expected</li>
<li><i class="line wrong"></i> what it was, not as expected</li>
</ul>
<p>Every rush has a time axis of its own. The rushes of one drill share the stock axis.</p>
${
  isOneStage
    ? html`<div class="charts small">\n${drawn.map(({ figures }) => figures)}</div>`
    : drawn.map(({ drill, figures }) => html`<h3>${drill}</h3>\n<div class="charts small">\n${figures}</div>\n`)
}
</section>`;
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

function axisOf(rushes: Rush[]): Axis {
  const points = rushes.flatMap(({ result }) => result.stockOverTime);
  return evenAxis(points.flatMap(({ stock, expected }) => [stock, expected]));
}

/** The figures say how it ended: the last writes of two nodes may be recorded in another order than they were made. */
function drawRush({ stage, result }: Rush, axis: Axis, title: string): Html {
  const { drill, stockOverTime } = result;
  const figures = rushFigures(result);
  const end = stockOverTime.at(-1);
  const stock = figures?.finalStock ?? end?.stock ?? 0;
  const expected = figures?.expectedStock ?? end?.expected ?? 0;
  const comparison = stock === expected ? ', as expected' : ` instead of ${formatNumber(expected)}`;
  const ending = `${formatNumber(stock)}${comparison}, in ${formatDuration(end?.ms ?? 0)}`;
  const chart = stockChart(`Stock of ${stage} during ${drill}: ${ending}`, stockOverTime, axis);
  return figure(html`<b>${title}</b><br>${ending}`, chart, stock !== expected && 'wrong');
}

function drillCaption(drill: string): Html {
  const question = questionOf(drill);
  return html`<b>${drill}</b>${question !== undefined && `: ${question}`}`;
}

function figure(caption: Html, drawing: Html, kind: string | false = false): Html {
  return html`<figure class="${kind}"><figcaption>${caption}</figcaption>${drawing}</figure>\n`;
}
