// Finds the parts of a document that are made of the record, and makes them anew.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import { blocks, inline, type Part } from './parts.ts';
import type { FiguresRecord } from './record.ts';

/** A part: its name with its arguments, and what stands there. On lines of its own it is a block, else one figure in a sentence. */
const PART = /<!-- figures: ([^>]+?) -->(.*?)<!-- \/figures -->/gs;
const MARK = /<!-- \/?figures\b.*?-->/g;

/** The documents that may have such parts, from the project's folder. */
export function figureDocuments(): string[] {
  const pages = readdirSync(join(projectDir, 'docs'), { recursive: true, encoding: 'utf8' });
  return ['README.md', ...pages.filter((file) => file.endsWith('.md')).map((file) => join('docs', file))].toSorted();
}

/** The document with every part as the record has it. Throws where a part is not known, or has no end; `name` is what it is called then. */
export function withFigures(document: string, record: FiguresRecord, name: string): string {
  const marks = document.match(MARK)?.length ?? 0;
  const parts = [...document.matchAll(PART)];
  const nested = parts.some(([, , content = '']) => content.includes('<!-- figures'));
  if (nested || marks !== 2 * parts.length)
    throw new Error(`${name} has a figure without an end, or an end without a figure`);
  return document.replace(PART, (_, called: string, content: string) => {
    const [kind = '', ...args] = called.split(' ');
    const isBlock = content.startsWith('\n');
    const made = make(isBlock, kind, args);
    return `<!-- figures: ${called} -->${isBlock ? `\n\n${made}\n\n` : made}<!-- /figures -->`;
  });

  function make(isBlock: boolean, kind: string, args: string[]): string {
    const kinds = isBlock ? blocks : inline;
    try {
      if (!Object.hasOwn(kinds, kind)) throw new Error(`there is no such ${isBlock ? 'table' : 'figure'}`);
      return (kinds[kind] as Part)(record, ...args);
    } catch (error) {
      throw new Error(`${name} asks for ${[kind, ...args].join(' ')}: ${(error as Error).message}`);
    }
  }
}

/** The document without its parts: what is written by hand. */
export function withoutFigures(document: string): string {
  return document.replace(PART, '');
}
