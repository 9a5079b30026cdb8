// Lays text out for a terminal: lines of a width that can be read, and the little Markdown that the exercises use.

import { stripVTControlCharacters } from 'node:util';
import type pc from 'picocolors';

export type Paint = ReturnType<typeof pc.createColors>;

/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST = 96;

export const widthOf = (columns: number | undefined) => Math.max(40, Math.min(WIDEST, (columns ?? 80) - 2));

const lengthOf = (text: string) => stripVTControlCharacters(text).length;

/** The text in lines of this width. A word that is longer has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return line === '' ? lines : [...lines, line];
}

/** The text behind the head. What has no room in the first line stands below the beginning of the text. */
export function hang(head: string, text: string, width: number): string[] {
  const indent = lengthOf(head);
  if (indent + lengthOf(text) <= width) return [head + text];
  const [first = '', ...others] = wrap(text, width - indent);
  return [head + first, ...others.map((line) => ' '.repeat(indent) + line)];
}

/** The `code`, **bold** and [links](there) of a text, painted. */
export function inline(text: string, { cyan, bold }: Paint): string {
  // A code with spaces in it may be broken over lines: each word is painted.
  return text
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/`([^`]+)`/g, (_, code: string) => code.split(' ').map(cyan).join(' '))
    .replace(/\*\*([^*]+)\*\*/g, (_, words: string) => words.split(' ').map(bold).join(' '));
}
