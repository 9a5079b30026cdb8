// Small changes to sources, as attempts.txt, bugs.txt and the catalogue of mutations tell them: the text behind - becomes the text behind +.

import { readFileSync } from 'node:fs';

export interface Edit {
  /** The file that a line with "in" has named. */
  file?: string;
  /** The text that is replaced. It must occur exactly once in its file. */
  find: string;
  replace: string;
}

/** The blocks of a file, each as its lines. What the file begins with says how to read it, and is left out. */
export function readBlocks(file: string): string[][] {
  const [, ...blocks] = readFileSync(file, 'utf8').split('\n\n');
  return blocks.map((block) => block.trimEnd().split('\n'));
}

/** The edits that these lines tell. */
export function editsIn(lines: string[]): Edit[] {
  const edits: { place: { file?: string }; find: string[]; by: string[] }[] = [];
  let place: { file?: string } = {};
  for (const line of lines) {
    const last = edits.at(-1);
    const text = line.slice(1);
    if (line.startsWith('in ')) place = { file: line.slice('in '.length) };
    else if (line.startsWith('+')) last?.by.push(text);
    else if (last?.by.length === 0) last.find.push(text);
    else edits.push({ place, find: [text], by: [] });
  }
  return edits.map(({ place, find, by }) => ({ ...place, find: find.join('\n'), replace: by.join('\n') }));
}
