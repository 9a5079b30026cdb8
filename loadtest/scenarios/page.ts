// Reads a scenario: a fault as a page of sentences.

import type { StepHistory } from '../evidence/history.ts';
import type { Course } from '../sentences/course.ts';
import { endings, meaningOf, type PageOf, type Vocabulary } from '../sentences/sentence.ts';
import { ofLocks } from '../sentences/vocabulary.ts';

/** A scenario. */
export type Page = PageOf<Course, StepHistory>;

/** A page that can't be read: the message names the line, and the nearest sentence that is known. */
export class PageError extends Error {}

/**
 * Reads a page: its name, what it asks, its steps and when it holds. A `#` begins a comment. A
 * paragraph ends where nothing depends on how long one talks. Throws PageError.
 */
export const readPage = (text: string): Page => readPageOf(ofLocks, text);

/** Reads a page that is made of these sentences. Throws PageError. */
export function readPageOf<On, Outcome>(known: Vocabulary<On, Outcome>, text: string): PageOf<On, Outcome> {
  const lines = text.split('\n').map((line) => line.trim());
  const isBlank = (at: number) => lines.slice(at).find((line) => !line.startsWith('#')) === '';
  const [name = '', question = ''] = lines;
  const page: PageOf<On, Outcome> = { name, question, needs: [], timing: {}, steps: [], words: {} };
  lines.forEach((line, index) => {
    if (index < 2 || line === '' || line.startsWith('#')) return;
    try {
      const ending = endings.find((each) => line.startsWith(`${each}: `));
      if (ending !== undefined) page.words[ending] = line.slice(ending.length + 2);
      else if (line.startsWith('holds when '))
        page.steps.at(-1)?.demands.push(meaningOf(line.slice('holds when '.length), known.demands));
      else
        page.steps.push({
          ...meaningOf(line, known.steps),
          line,
          endsParagraph: isBlank(index + 1),
          demands: [],
        });
    } catch (error) {
      throw new PageError(`${name}, line ${index + 1}: ${(error as Error).message}`);
    }
  });
  if (!page.steps.at(-1)?.demands.length) throw new PageError(`${name}: it does not say when it holds.`);
  for (const { needs = [], timing, stock } of page.steps) {
    page.needs.push(...needs.filter((need) => !page.needs.includes(need)));
    Object.assign(page, { timing: { ...page.timing, ...timing } }, stock !== undefined && { stock });
  }
  return page;
}
