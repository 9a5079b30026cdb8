// The contract as a part of the page: the checks of each graded lock, with their sentences.

import type { DrillResult, Results } from '../evidence/results.ts';
import { isBeyondPromise, questionOf, ranChecks } from './cells.ts';
import { type Html, html } from './escape.ts';
import { anchor, beyondPromise, states } from './marks.ts';

/** Nothing when no check was run. */
export function contractSection(results: Results): Html | false {
  const rows = ranChecks(results);
  if (rows.length === 0) return false;
  return html`<section id="contract">
<h2>The contract</h2>
<p>Checks without load, in virtual time, one fault each. Every lock goes through them before the drills.</p>
${rows.map(
  ({ stage, drills }) => html`<h3>${stage}</h3>
<dl class="checks">
${drills.map((check) => checkEntry(stage, check, results))}</dl>
`,
)}</section>`;
}

/** What does not hold has its steps with it. */
function checkEntry(stage: string, check: DrillResult, results: Results): Html {
  const { drill, verdict, reasons, witnesses } = check;
  const { mark, word } = isBeyondPromise(results, stage, check) ? beyondPromise : states[verdict];
  const question = questionOf(drill);
  return html`<div id="${anchor(stage, drill)}"><dt><b class="key ${verdict}" aria-hidden="true">${mark}</b> ${drill}: ${word}</dt>
<dd>${question !== undefined && html`<span class="asks">${question}</span> `}${reasons.join(' ')}
${witnesses.length > 0 && html`<ul class="witnesses">${witnesses.map((witness) => html`<li>${witness}</li>\n`)}</ul>`}</dd></div>
`;
}
