// The file of a stage, with what it changes in the stage before marked, and the lines that run now.

import { diffLines } from 'diff';
import { html } from 'htm/preact';
import { say } from './texts.ts';

interface CodeProps {
  file: string;
  text: string;
  before?: string | undefined;
  /** Who is at a line, by the number of that. */
  at?: Record<number, string>;
}

export function Code({ file, text, before, at = {} }: CodeProps) {
  // The first lines tell in words what the page tells as well.
  const [head = ''] = /^(\/\/.*\n)+\n/.exec(text) ?? [];
  const body = (source: string) => source.replace(/^(\/\/.*\n)+\n/, '');
  let number = head.split('\n').length - 1;
  const parts = diffLines(before === undefined ? body(text) : body(before), body(text));
  return html`<section class="code" aria-labelledby="code">
    <h2 id="code">${say('code', { file })}</h2>
    ${before !== undefined && html`<p><small>${say('changed')}</small></p>`}
    <pre tabindex="0">${parts.flatMap(({ value, added, removed }) =>
      value
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => {
          if (removed) return html`<del>${line}\n</del>`;
          number += 1;
          const who = at[number];
          const mark = who !== undefined && html`<mark>◀ ${who}</mark>`;
          return added ? html`<ins>${line} ${mark}\n</ins>` : html`<span>${line} ${mark}\n</span>`;
        }),
    )}</pre>
  </section>`;
}
