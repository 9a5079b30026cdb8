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

/** The scripts and other files that a text speaks of, to be opened. */
export function Named({ text, files }: { text: string; files: Record<string, string> }) {
  const scripts = [...text.matchAll(/readScript\('([\w-]+)'\)/g)].map(([, name]) => `lua/${name}.lua`);
  const named = Object.keys(files).filter((file) => scripts.includes(file) || text.includes(file));
  return named.map(
    (file) => html`<details><summary><code>${file}</code></summary><pre tabindex="0">${files[file]}</pre></details>`,
  );
}
