import type { Results } from '../results.ts';
import { type Cell, isAsTaught, keyFigure, questionOf, staircaseOf } from './cells.ts';
import { type Html, html } from './escape.ts';
import { anchor, states } from './marks.ts';

/** The staircase as it was run. Each cell leads to its drill below. */
export function whatRan(results: Results): Html {
  const { drills, rows } = staircaseOf(results);
  if (rows.length === 0) return html`<section><h2>What ran</h2><p>Nothing was run.</p></section>`;
  const isWide = drills.length > 5;
  return html`<section>
<h2>What ran</h2>
<div class="scroll" tabindex="0" role="region" aria-label="What ran">
<table class="staircase${isWide && ' wide'}">
<thead><tr><th scope="col">stage</th>${drills.map((drill) => html`<th scope="col">${drillHeading(drill)}</th>`)}</tr></thead>
<tbody>
${rows.map(({ stage, cells }) => html`<tr><th scope="row">${stageLink(results, stage)}</th>${cells.map(staircaseCell)}</tr>\n`)}
</tbody>
</table>
</div>
<ul class="legend">
<li><b class="key pass">✔\uFE0E</b> the stage holds</li>
<li><b class="key fail">✘\uFE0E</b> the stage fails: that is its lesson</li>
<li><b class="key off pass">✔\uFE0E</b> <b class="key off fail">✘\uFE0E</b> not as taught</li>
<li><b class="key">?</b> unknown</li>
<li><b class="key">–</b> not applicable</li>
</ul>
${isWide && html`<ul class="legend">${drills.map(questionItem)}</ul>`}
</section>`;
}

function drillHeading(drill: string): Html {
  const question = questionOf(drill);
  return html`${drill}${question !== undefined && html`<br><small>${question}</small>`}`;
}

function questionItem(drill: string) {
  const question = questionOf(drill);
  return question !== undefined && html`<li><b>${drill}</b>: ${question}</li>\n`;
}

function stageLink({ stages }: Results, stage: string) {
  return stages.some((ran) => ran.stage === stage) ? html`<a href="#${anchor(stage)}">${stage}</a>` : stage;
}

function staircaseCell({ stage, drill, state, result }: Cell): Html {
  const { mark, word } = states[state];
  if (result === undefined) return html`<td class="${state}">${word}</td>`;
  const isOff = isAsTaught(result) === false;
  const figure = keyFigure(result);
  return html`<td class="${state}${isOff && ' off'}"><a href="#${anchor(stage, drill)}"
><span class="mark" aria-hidden="true">${mark}</span> <span class="${figure !== undefined && 'spoken'}">${word}</span>
${figure !== undefined && html`<span class="figure">${figure}</span>`}
${isOff && html`<span class="taught">taught: ${result.taught ?? ''}</span>`}</a></td>`;
}
