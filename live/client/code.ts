// The file of a stage, with what it changes in the file of the stage before.

import { html } from 'htm/preact';
import type { StageChoice } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { type CodeLine, codeLines } from './code-lines.ts';

export function Code({ choice }: { choice: StageChoice | undefined }) {
  if (choice === undefined) return html`<p class="empty">${texts.code.missing}</p>`;
  const { title, problem, change, leaves, diff, before } = choice;
  return html`<div class="scroll code-scroll" tabindex="0" role="group" aria-label=${texts.code.name(title)}>
    <h3>${title}</h3>
    <dl class="chain">
      <dt>${texts.code.problem}</dt>
      <dd>${problem}</dd>
      <dt>${texts.code.change}</dt>
      <dd>${change}</dd>
      <dt>${texts.code.leaves}</dt>
      <dd>${leaves}</dd>
    </dl>
    ${diff !== undefined && before !== undefined && html`<p class="hint">${texts.code.against(before)}</p>`}
    <pre><code>${codeLines(choice).map(codeLine)}</code></pre>
  </div>`;
}

function codeLine({ is, text }: CodeLine) {
  if (is === 'added') return html`<ins><span class="gutter">${texts.code.added}</span>${text}</ins>`;
  if (is === 'removed') return html`<del><span class="gutter">${texts.code.removed}</span>${text}</del>`;
  return html`<span class=${`kept ${text.startsWith('//') ? 'is-comment' : ''}`}><span class="gutter"> </span>${text}</span>`;
}
