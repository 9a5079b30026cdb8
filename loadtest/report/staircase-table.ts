// The staircase as a table of the page.

import type { Results } from '../evidence/results.ts';
import { countOf } from '../narration/numbers.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { type Cell, keyFigure, partsOf, questionOf, type RanStaircase, whyNotPromised } from './cells.ts';
import { type Html, html } from './escape.ts';
import { anchor, beyondPromise, markOf } from './marks.ts';

/** With more drills than that, a table needs small letters. */
const WIDE = 5;

/** A staircase as it was run. Each cell leads to its drill below. */
export function staircaseSection(ran: RanStaircase, results: Results): Html {
  const { title, rowWord } = ran.staircase;
  const parts = partsOf(ran);
  const isWide = ran.drills.length > WIDE;
  return html`<section id="${anchor(title)}">
<h2>${title}</h2>
<div class="parts">${parts.map((part) => partTable(part, ran, results))}</div>
<ul class="legend">
<li><b class="key pass">✔\uFE0E</b> the ${rowWord} holds</li>
<li><b class="key fail">✘\uFE0E</b> the ${rowWord} fails: that is its lesson</li>
<li><b class="key pass measured">✔\uFE0E</b> <b class="key fail measured">✘\uFE0E</b> pale: it holds, or fails; nothing is expected of it</li>
<li><b class="key off pass">✔\uFE0E</b> <b class="key off fail">✘\uFE0E</b> not as expected</li>
<li><b class="key fail measured">${beyondPromise.mark}</b> it fails what it does not promise, which is no fault of it</li>
<li><b class="key unknown">?</b> unknown: nothing may be concluded</li>
<li><b class="key not-applicable">–</b> nothing to break, or not on these servers</li>
<li><b class="key blank"></b> not run</li>
</ul>
${isWide && html`<dl class="questions">${parts.flatMap((part) => part.drills).map((drill) => html`<div><dt>${drill}</dt><dd>${questionOf(drill)}</dd></div>\n`)}</dl>`}
</section>`;
}

type Part = ReturnType<typeof partsOf>[number];

/** The table of one group. All tables of a staircase have columns of one width, so that they stand below each other. */
function partTable({ group, drills }: Part, ran: RanStaircase, results: Results): Html {
  const { staircase, stages, cellAt } = ran;
  const isWide = ran.drills.length > WIDE;
  return html`<div class="part">
${group && html`<h3 class="group">${group}</h3>`}
${drills.length >= WIDE && html`<p class="hint">${countOf(drills.length, 'drill')}: the table goes on to the right →</p>`}
<div class="scroll" tabindex="0" role="region" aria-label="${[staircase.title, group].filter(Boolean).join(': ')}">
<table class="staircase${isWide && ' wide'}" style="--drills: ${drills.length}">
<thead><tr><th scope="col">${staircase.rowWord}</th>${drills.map((drill) => html`<th scope="col">${drill}<br><small>${questionOf(drill)}</small></th>`)}</tr></thead>
<tbody>
${stages.map((stage) => html`<tr><th scope="row">${stageLink(results, stage)}</th>${drills.map((drill) => staircaseCell(cellAt(stage, drill), results))}</tr>\n`)}
</tbody>
</table>
</div>
</div>
`;
}

function stageLink({ stages }: Results, stage: string) {
  return stages.some((ran) => ran.stage === stage) ? html`<a href="#${anchor(stage)}">${stage}</a>` : stage;
}

function staircaseCell({ stage, drill, state, result }: Cell, results: Results): Html {
  if (result === undefined) return html`<td class="${state}">${state === 'left-out' && 'left out'}</td>`;
  const { mark, word } = whyNotPromised(results, stage, result) ? beyondPromise : markOf(result.verdict);
  const standing = standingOf(result);
  const isOff = standing === 'not as expected';
  const figure = keyFigure(result);
  const isShort = figure !== undefined || state === 'not-applicable';
  return html`<td class="${state}${standing === 'measured only' && ' measured'}${isOff && ' off'}"><a href="#${anchor(stage, drill)}"
><span class="mark" aria-hidden="true">${mark}</span> <span class="${isShort && 'spoken'}">${word}</span>
${figure !== undefined && html`<span class="figure">${unbroken(figure)}</span>`}
${isOff && html`<span class="expected">expected: ${result.expected ?? ''}</span>`}</a></td>`;
}

/** A number is never parted from its unit. */
function unbroken(figure: string): string {
  return figure.replace(/(\d) (ms|s|min|B)\b/g, '$1\u00A0$2');
}
