// Parts of a Markdown document.

/** A table whose columns are as wide as their widest cell, as the other documents have it. */
export function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows].map((cells) =>
    cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ')),
  );
  const widths = head.map((_, at) => Math.max(3, ...all.map((cells) => [...(cells[at] ?? '')].length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - [...cell].length))).join(' | ')} |`;
  const [top = [], ...rest] = all;
  return [line(top), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

/** A block of code or of a diagram. */
export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

export const quoted = (text: string) =>
  text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

export const listed = (items: string[]) => items.map((item) => `- ${item}`).join('\n');

/** Names of drills as a clause: `` `rush` and `amnesia` ``. */
export function coded(names: string[]): string {
  const all = names.map((name) => `\`${name}\``);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}
