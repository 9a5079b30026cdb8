// The subset of Markdown that the exercises use.

import { html } from 'htm/preact';

export function Markdown({ text }: { text: string }) {
  const blocks = text.split(/^```\w*\n([\s\S]*?)^```$/m);
  return html`<div>${blocks.map((block, at) =>
    at % 2 === 1
      ? html`<pre tabindex="0">${block}</pre>`
      : block.split(/\n{2,}/).map((paragraph) => paragraph.trim() && html`<p>${inline(paragraph)}</p>`),
  )}</div>`;
}

const inline = (text: string) =>
  text
    // A link leads to a file of the project, which is not in the page.
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '`$1`')
    .split(/(\*\*[^*]+\*\*|`[^`]+`)/)
    .map((part) =>
      part.startsWith('**')
        ? html`<b>${part.slice(2, -2)}</b>`
        : part.startsWith('`')
          ? html`<code>${part.slice(1, -1)}</code>`
          : part,
    );
