// Lays text out for a terminal: lines of a width that can be read, and the little Markdown that the exercises use.

import { stripVTControlCharacters } from 'node:util';
import type pc from 'picocolors';

export type Paint = ReturnType<typeof pc.createColors>;

/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST = 96;

export const widthOf = (columns: number | undefined) => Math.max(40, Math.min(WIDEST, (columns ?? 80) - 2));

const lengthOf = (text: string) => stripVTControlCharacters(text).length;

/** The text in lines of this width, each but the first with the indent. A word that is longer has a line of its own. */
export const wrap = (text: string, width: number, indent = ''): string[] =>
  fill(text.split(/\s+/).filter(Boolean), width, indent);

/** Pieces that stay whole, in lines of this width, with a gap between two of them. */
export function fill(pieces: string[], width: number, indent = '', gap = ' '): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
    if (line !== '' && lengthOf(line) + gap.length + lengthOf(piece) > width) {
      lines.push(line);
      line = indent + piece;
    } else line = line === '' ? piece : line + gap + piece;
  }
  return line === '' ? lines : [...lines, line];
}

/** A line of code in lines of this width, broken between two words where it is longer: those after the first stand further in. */
export function foldCode(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const indent = `${/^[+-]?\s*/.exec(line)?.[0].replace(/\s*$/, (gap) => `${gap}    `) ?? ''}`;
  const at = line.lastIndexOf(' ', width);
  // A word that is longer than a line stays whole.
  if (at < indent.length) return [line];
  return [line.slice(0, at), ...foldCode(indent + line.slice(at + 1), width)];
}

/** The text behind the head. What has no room in the first line stands below the beginning of the text. */
export function hang(head: string, text: string, width: number): string[] {
  const indent = lengthOf(head);
  if (indent + lengthOf(text) <= width) return [head + text];
  const [first = '', ...others] = wrap(text, width - indent);
  return [head + first, ...others.map((line) => ' '.repeat(indent) + line)];
}

/** The entries in as many columns as there is room for, each read from its top to its bottom. */
export function inColumns(entries: string[], width: number): string[] {
  const widest = Math.max(...entries.map(lengthOf));
  const height = Math.ceil(entries.length / Math.max(1, Math.floor(width / widest)));
  const pad = (entry: string) => entry + ' '.repeat(widest - lengthOf(entry));
  return Array.from({ length: height }, (_, row) =>
    entries
      .filter((_, at) => at % height === row)
      .map(pad)
      .join('')
      .trimEnd(),
  );
}

/** Markdown as lines: paragraphs, lists, headings, blocks of code, and in them `code`, **bold** and [links](there). */
export function markdownLines(text: string, width: number, paint: Paint): string[] {
  const lines: string[] = [];
  for (const block of text.split(/\n{2,}/)) {
    if (lines.length > 0) lines.push('');
    lines.push(...blockLines(block, width, paint));
  }
  return lines;
}

function blockLines(block: string, width: number, paint: Paint): string[] {
  if (block.startsWith('```')) {
    const code = block.split('\n').filter((line) => !line.startsWith('```'));
    return code.map((line) => `    ${paint.cyan(line)}`);
  }
  if (block.startsWith('#')) return [paint.bold(block.replace(/^#+ /, ''))];
  const items = block.split(/\n(?=[-*] |\d+\. )/);
  return items.flatMap((item) => {
    const mark = /^(?:[-*]|\d+\.) /.exec(item)?.[0] ?? '';
    const flat = inline(item.replace(/\s*\n\s*/g, ' '), paint);
    return wrap(flat, width, ' '.repeat(mark.length));
  });
}

/** The `code`, **bold** and [links](there) of a text, painted. */
export function inline(text: string, { cyan, bold }: Paint): string {
  // A code with spaces in it may be broken over lines: each word is painted.
  return text
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/`([^`]+)`/g, (_, code: string) => code.split(' ').map(cyan).join(' '))
    .replace(/\*\*([^*]+)\*\*/g, (_, words: string) => words.split(' ').map(bold).join(' '));
}
