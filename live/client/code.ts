// The file of a stage, with what it changes in the file of the stage before.

import { html } from 'htm/preact';
import type { StageChoice } from '../contract.ts';
import { texts as allTexts } from '../texts/en.ts';
import { type CodeLine, codeLines } from './code-lines.ts';

const texts = allTexts.code;

export function Code({ choice }: { choice: StageChoice | undefined }) {
  if (choice === undefined) return html`<p class="empty">${texts.missing}</p>`;
  const { title, problem, change, leaves, diff, before } = choice;
  return html`<div class="scroll code-scroll" tabindex="0" role="group" aria-label=${texts.name(title)}>
    <h3>${title}</h3>
    <dl class="chain">
      <dt>${texts.problem}</dt>
      <dd>${problem}</dd>
      <dt>${texts.change}</dt>
      <dd>${change}</dd>
      <dt>${texts.leaves}</dt>
      <dd>${leaves}</dd>
    </dl>
    ${diff !== undefined && before !== undefined && html`<p class="hint">${texts.against(before)}</p>`}
    <pre><code>${codeLines(choice).map(codeLine)}</code></pre>
  </div>`;
}

function codeLine({ is, text }: CodeLine) {
  if (is === 'added') return html`<ins><span class="gutter">${texts.added}</span>${text}</ins>`;
  if (is === 'removed') return html`<del><span class="gutter">${texts.removed}</span>${text}</del>`;
  return html`<span class=${`kept ${text.startsWith('//') ? 'is-comment' : ''}`}><span class="gutter"> </span>${text}</span>`;
}
