// The staircase of the stages as a small table: what is taught, and nothing that was measured.

import { type Html, html } from '../loadtest/report/escape.ts';
import { lockStaircase } from '../loadtest/staircase/locks.ts';
import type { StageFacts } from './stages.ts';

/** What a sign is called where it can't be seen. */
const words: Record<string, string> = { '✔': 'holds', '✘': 'fails', '·': 'not taught', '–': 'nothing to break' };

/** What the signs say. */
export function legend(): Html {
  return html`<b class="holds">✔\uFE0E</b> the stage holds, <b class="fails">✘\uFE0E</b> it fails: that is its lesson, <b>·</b> not taught, <b>–</b> nothing to break.`;
}

/**
 * The rows up to that stage, and the drills that the stages climb. The row of that stage stands out. Rows that come later are there,
 * and empty, so that every picture has one size.
 */
export function staircasePicture(stages: StageFacts[], upTo: number): Html {
  const drills = climbed(stages);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="The staircase up to stage ${upTo}"><table class="staircase">
<thead><tr><td></td>${drills.map((drill) => html`<th scope="col"><span>${drill}</span></th>`)}</tr></thead>
<tbody>${stages.map(({ name, number }) => html`<tr${number === upTo && html` class="now"`}><th scope="row">${name}</th>${drills.map((drill) => cell(name, drill, number <= upTo))}</tr>\n`)}</tbody>
</table></div>`;
}

/** The drills that a stage mends, in the order of the staircase, and the one that the last stage leaves. */
function climbed(stages: StageFacts[]): string[] {
  const shown = new Set(stages.flatMap(({ fixed, left }) => [...fixed, left]));
  return Object.keys(lockStaircase.columns).filter((drill) => shown.has(drill));
}

function cell(stage: string, drill: string, isShown: boolean): Html {
  const sign = lockStaircase.rows[stage]?.signs[drill];
  if (!isShown || sign === undefined) return html`<td></td>`;
  const word = words[sign] ?? '';
  return html`<td class="${word.replaceAll(' ', '-')}"><span aria-hidden="true">${sign}\uFE0E</span><span class="spoken">${word}</span></td>`;
}
