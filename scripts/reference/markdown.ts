// How the parts of the reference are written down.

/** A table without padding. A bar inside a cell would end it. */
export function tableOf(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), `| ${heads.map(() => '-').join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** The name as code. */
export const codeOf = (name: string) => `\`${name}\``;

/** The text with a capital at its beginning. */
export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A conformance check as the pages name it, which say that its whole name begins with `contract-`. */
export const withoutPrefix = (check: string) => check.replace(/^contract-/, '');
