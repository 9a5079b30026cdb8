// The title of a row, and the story that its file tells.

import { existsSync, readFileSync } from 'node:fs';
import { rowOf } from '../staircase/lookup.ts';

/** The lines that open a stage's file. */
export interface Story {
  problem: string;
  change: string;
  leaves: string;
}

/** The story of a row, read from its file. Undefined when no file tells it. */
export function readStory(stage: string): Story | undefined {
  const path = rowOf(stage)?.story;
  const file = path === undefined ? undefined : new URL(`../../${path}`, import.meta.url);
  if (file === undefined || !existsSync(file)) return undefined;
  const source = readFileSync(file, 'utf8');
  const lineOf = (name: string) => source.match(new RegExp(`^// ${name}: *(.+)$`, 'm'))?.[1];
  const [problem, change, leaves] = ['Problem', 'Change', 'Leaves'].map(lineOf);
  if (problem === undefined || change === undefined || leaves === undefined) return undefined;
  return { problem, change, leaves };
}

/** `4-ttl` as `Stage 4 · ttl`. An external lock keeps its name. */
export function stageTitle(stage: string): string {
  return rowOf(stage)?.title ?? stage;
}
