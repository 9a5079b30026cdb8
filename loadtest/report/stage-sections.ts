import type { DrillResult, Figures, Results, StageResult } from '../results.ts';
import { isAsTaught, keyFigure, measuredDrills } from './cells.ts';
import { type Html, html } from './escape.ts';
import { comparedFigures, type FigureLine, linesOf } from './figures.ts';
import { anchor, states } from './marks.ts';
import { countOf, formatDuration, formatNumber } from './numbers.ts';
import { readStory, stageTitle } from './story.ts';

/** The figures of all stages side by side, drill by drill. One stage alone has nothing beside it. */
export function comparison(results: Results): Html | false {
  const drills = measuredDrills(results).filter(({ stages }) => stages.length > 1);
  if (drills.length === 0) return false;
  return html`<section>
<h2>Stage by stage</h2>
${drills.map(
  ({ drill, stages }) => html`<h3>${drill}</h3>
<div class="scroll" tabindex="0" role="region" aria-label="${drill}, stage by stage">
<table class="figures">
<thead><tr><th scope="col">stage</th>${comparedFigures.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${stages.map(
  ({ stage, figures }) =>
    html`<tr><th scope="row">${stage}</th>${comparedFigures.map((line) => figureCell(line, figures))}</tr>\n`,
)}</tbody>
</table>
</div>
`,
)}</section>`;
}

/** A stage: its story, what its drills found, and every figure. */
export function stageSection({ stage, drills }: StageResult): Html {
  return html`<section class="stage" id="${anchor(stage)}">
<h2>${stageTitle(stage)}</h2>
${storyOf(stage)}
${drills.length === 0 && html`<p>No drill of this stage was run.</p>`}
${drills.map((result) => drillArticle(stage, result))}
${figuresTable(stage, drills)}
</section>
`;
}

function storyOf(stage: string): Html | false {
  const story = readStory(stage);
  if (story === undefined) return false;
  return html`<dl class="story">
<dt>Problem</dt><dd>${story.problem}</dd>
<dt>Change</dt><dd>${story.change}</dd>
<dt>Leaves</dt><dd>${story.leaves}</dd>
</dl>`;
}

function drillArticle(stage: string, result: DrillResult): Html {
  const { drill, verdict, reasons, witnesses, witnessCount, durationMs } = result;
  const { mark, word } = states[verdict];
  const figure = keyFigure(result);
  const isOff = isAsTaught(result) === false;
  return html`<article id="${anchor(stage, drill)}">
<h3><b class="key ${verdict}${isOff && ' off'}" aria-hidden="true">${mark}</b> ${drill}: ${word}${figure !== undefined && `, ${figure}`}</h3>
<p>${compareWithTaught(result)} ${reasons.length === 1 && reasons[0]} It took ${formatDuration(durationMs)}.</p>
${reasons.length > 1 && html`<ul class="reasons">${reasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
${
  witnesses.length > 0 &&
  html`<p class="witness-count">${countWitnesses(witnesses.length, witnessCount)}</p>
<ul class="witnesses">${witnesses.map((witness) => html`<li>${witness}</li>\n`)}</ul>`
}
</article>
`;
}

function compareWithTaught(result: DrillResult): string {
  if (result.verdict === 'unknown') return 'Nothing may be concluded.';
  if (result.verdict === 'not-applicable') return 'The servers of this run can’t carry it.';
  if (result.taught === null) return 'The staircase leaves this cell to the measurement.';
  return isAsTaught(result) ? 'As taught.' : `Not as taught: the staircase says ${result.taught}.`;
}

function countWitnesses(shown: number, all: number): string {
  if (all <= shown) return `${countOf(shown, 'witness', 'witnesses')}:`;
  return `The first ${formatNumber(shown)} of ${formatNumber(all)} witnesses:`;
}

function figuresTable(stage: string, drills: DrillResult[]): Html | false {
  const measured = drills.flatMap(({ drill, figures }) => (figures === undefined ? [] : [{ drill, figures }]));
  if (measured.length === 0) return false;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Figures of ${stage}">
<table class="figures">
<thead><tr><th scope="col">figure</th>${measured.map(({ drill }) => html`<th scope="col">${drill}</th>`)}</tr></thead>
<tbody>
${linesOf(measured.map(({ figures }) => figures)).map(
  (line) =>
    html`<tr><th scope="row">${line.name}</th>${measured.map(({ figures }) => figureCell(line, figures))}</tr>\n`,
)}</tbody>
</table>
</div>`;
}

function figureCell({ read, isDamage }: FigureLine, figures: Figures): Html {
  return html`<td class="${isDamage?.(figures) && 'damage'}">${read(figures)}</td>`;
}
