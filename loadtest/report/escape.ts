// Markup in which everything from outside is escaped.

/** Text that is safe to stand in a page as it is. Only `html` and `trusted` make it. */
export interface Html {
  readonly markup: string;
}

type Insert = string | number | Html | false | undefined | readonly Insert[];

/** A page or a part of one. Everything inserted is escaped, unless it is `Html` already; lists are joined, false is left out. */
export function html(strings: TemplateStringsArray, ...inserts: Insert[]): Html {
  return trusted(String.raw({ raw: strings }, ...inserts.map(toMarkup)));
}

/** Markup from a source that escapes by itself. */
export function trusted(markup: string): Html {
  return { markup };
}

function toMarkup(insert: Insert): string {
  if (insert === undefined || insert === false) return '';
  if (typeof insert === 'string') return escapeText(insert);
  if (typeof insert === 'number') return String(insert);
  return 'markup' in insert ? insert.markup : insert.map(toMarkup).join('');
}

/** The text as it may stand between tags and in quoted attributes. */
export function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
