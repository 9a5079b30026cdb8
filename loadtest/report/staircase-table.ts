// The staircase as a table of the page.

import type { Results } from '../evidence/results.ts';
import { inLanguage } from '../narration/language.ts';
import { countOf, formatNumber } from '../narration/numbers.ts';
import { either } from '../narration/spoken.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { groupTitles } from '../staircase/staircase.ts';
import { type Cell, keyFigure, partsOf, questionOf, type RanStaircase, whyNotPromised } from './cells.ts';
import { type Html, html } from './escape.ts';
import { anchor, beyondPromise, markOf, wordOf } from './marks.ts';

/** With more drills than that, a table needs small letters. */
const WIDE = 5;

/** A staircase as it was run. Each cell leads to its drill below. */
export function staircaseSection(ran: RanStaircase, results: Results): Html {
  const [title, row] = [ran.staircase.title, ran.staircase.rowWord].map((text) => inLanguage(text)) as [string, string];
  const parts = partsOf(ran);
  const isWide = ran.drills.length > WIDE;
  return html`<section id="${anchor(title)}">
<h2>${title}</h2>
<div class="parts">${parts.map((part) => partTable(part, ran, results))}</div>
<ul class="legend">
<li><b class="key pass">✔\uFE0E</b> ${either(`the ${row} holds`, `这个${row}通过`)}</li>
<li><b class="key fail">✘\uFE0E</b> ${either(`the ${row} fails, as this lesson expects`, `这个${row}不通过：这正是它要说明的问题`)}</li>
<li><b class="key pass measured">✔\uFE0E</b> <b class="key fail measured">✘\uFE0E</b> ${either('pale: nothing is expected', '浅色：没有预期')}</li>
<li><b class="key off pass">✔\uFE0E</b> <b class="key off fail">✘\uFE0E</b> ${either('not as expected', '不符合预期')}</li>
<li><b class="key fail measured">${beyondPromise().mark}</b> ${either('fails, and it is not promised', '不通过，但没有承诺过')}</li>
<li><b class="key unknown">?</b> ${either('unknown: nothing can be concluded', '未知：不能得出结论')}</li>
<li><b class="key not-applicable">–</b> ${either('nothing to break, or not on these servers', '没有可破坏的，或这些服务器无法演示')}</li>
<li><b class="key blank"></b> ${either('not run', '没有运行')}</li>
</ul>
${isWide && html`<dl class="questions">${parts.flatMap((part) => part.drills).map((drill) => html`<div><dt>${drill}</dt><dd>${questionOf(drill)}</dd></div>\n`)}</dl>`}
</section>`;
}

type Part = ReturnType<typeof partsOf>[number];

/** The table of one group. All tables of a staircase have columns of one width, so that they stand below each other. */
function partTable({ group, drills }: Part, ran: RanStaircase, results: Results): Html {
  const { staircase, stages, cellAt } = ran;
  const isWide = ran.drills.length > WIDE;
  const groupTitle = group && inLanguage(groupTitles[group]);
  const count = formatNumber(drills.length);
  return html`<div class="part">
${groupTitle && html`<h3 class="group">${groupTitle}</h3>`}
${drills.length >= WIDE && html`<p class="hint">${either(`${countOf(drills.length, 'drill')}: scroll right for more →`, `${count} 个演练：向右滚动查看 →`)}</p>`}
<div class="scroll" tabindex="0" role="region" aria-label="${[inLanguage(staircase.title), groupTitle].filter(Boolean).join(either(': ', '：'))}">
<table class="staircase${isWide && ' wide'}" style="--drills: ${drills.length}">
<thead><tr><th scope="col">${inLanguage(staircase.rowWord)}</th>${drills.map((drill) => html`<th scope="col">${drill}<br><small>${questionOf(drill)}</small></th>`)}</tr></thead>
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
  if (result === undefined)
    return html`<td class="${state}">${state === 'left-out' && either('left out', '没有运行')}</td>`;
  const { mark, word } = whyNotPromised(results, stage, result) ? beyondPromise() : markOf(result.verdict);
  const standing = standingOf(result);
  const isOff = standing === 'not as expected';
  const figure = keyFigure(result);
  const isShort = figure !== undefined || state === 'not-applicable';
  return html`<td class="${state}${standing === 'measured only' && ' measured'}${isOff && ' off'}"><a href="#${anchor(stage, drill)}"
><span class="mark" aria-hidden="true">${mark}</span> <span class="${isShort && 'spoken'}">${word}</span>
${figure !== undefined && html`<span class="figure">${unbroken(figure)}</span>`}
${isOff && html`<span class="expected">${either('expected: ', '预期：')}${result.expected === null ? '' : wordOf(result.expected)}</span>`}</a></td>`;
}

/** A number is never parted from its unit. */
function unbroken(figure: string): string {
  return figure.replace(/(\d) (?=(ms|s|min|B)\b|[毫秒分件笔次个条])/g, '$1\u00A0');
}
