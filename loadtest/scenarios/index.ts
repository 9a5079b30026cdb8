// Every scenario as a drill, by the name of its page.

import { readdirSync, readFileSync } from 'node:fs';
import type { StepDrill } from '../harness/step-drill.ts';
import { readPage } from './page.ts';
import { asStepDrill } from './scenario.ts';

const folder = new URL('.', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));
const scenarios = new Map(
  files.map((file) => {
    const page = readPage(readFileSync(new URL(file, folder), 'utf8'));
    return [page.name, asStepDrill(page)];
  }),
);

/** The drill that plays this page. Throws when there is no such page. */
export function scenario(name: string): StepDrill {
  const found = scenarios.get(name);
  if (found === undefined)
    throw new Error(`There is no scenario ${name}: there are ${[...scenarios.keys()].join(', ')}.`);
  return found;
}
