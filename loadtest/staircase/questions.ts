// What the pages of the scenarios ask.

import { existsSync, readFileSync } from 'node:fs';

/** The question of a page, as it stands behind a colon. Undefined when there is no page of this name. */
export function questionOfPage(name: string): string | undefined {
  const file = new URL(`../scenarios/${name}.txt`, import.meta.url);
  if (!existsSync(file)) return undefined;
  const question = readFileSync(file, 'utf8').split('\n')[1] ?? '';
  return question.charAt(0).toLowerCase() + question.slice(1).trim();
}
