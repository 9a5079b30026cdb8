// The drills: each fault is a page, and three are loads.

import { readdirSync, readFileSync } from 'node:fs';
import type { Drill } from '../harness/drill.ts';
import { lockStaircase } from '../staircase/locks.ts';
import { loads } from './loads.ts';
import { type Page, readPage } from './page.ts';
import { asDrill } from './scenario.ts';

const folder = new URL('.', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));
const pages = new Map(
  files.map((file) => {
    const page = readPage(readFileSync(new URL(file, folder), 'utf8'));
    return [page.name, page];
  }),
);

/** The page of this name. Throws when there is none. */
export function scenario(name: string): Page {
  const found = pages.get(name);
  if (found === undefined) throw new Error(`There is no scenario ${name}: there are ${[...pages.keys()].join(', ')}.`);
  return found;
}

const columns = Object.keys(lockStaircase.columns);
const loadsByName = new Map<string, Drill>(Object.entries(loads));

/** The scenarios of the staircase, in the order of its columns. */
export const scenarios: Page[] = columns.filter((name) => !loadsByName.has(name)).map(scenario);

/** All drills of the staircase, in the order of its columns. */
export const drills: Drill[] = columns.map((name) => loadsByName.get(name) ?? asDrill(scenario(name)));
