// The file of a stage, with what it changes in the stage before marked.

import { diffLines } from 'diff';
import { html } from 'htm/preact';
import { say } from './texts.ts';

export function Code({ file, text, before }: { file: string; text: string; before: string | undefined }) {
  // The first lines tell in words what the page tells as well.
  const body = (source: string) => source.replace(/^(\/\/.*\n)+\n/, '');
  const parts = diffLines(before === undefined ? body(text) : body(before), body(text));
  return html`<section class="code" aria-labelledby="code">
    <h2 id="code">${say('code', { file })}</h2>
    ${before !== undefined && html`<p><small>${say('changed')}</small></p>`}
    <pre tabindex="0">${parts.flatMap(({ value, added, removed }) =>
      value
        .replace(/\n$/, '')
        .split('\n')
        .map((line) =>
          added ? html`<ins>${line}\n</ins>` : removed ? html`<del>${line}\n</del>` : html`<span>${line}\n</span>`,
        ),
    )}</pre>
  </section>`;
}
