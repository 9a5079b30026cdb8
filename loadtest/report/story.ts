// The title of a row, and what its file says of it: the problem, the change, and what it leaves.

import { existsSync, readFileSync } from 'node:fs';
import { type Both, inLanguage } from '../narration/language.ts';
import { either } from '../narration/spoken.ts';
import { rowOf } from '../staircase/lookup.ts';
import { storiesInChinese } from '../staircase/stories.zh.ts';

/** The lines that open a stage's file. */
export interface Story {
  problem: string;
  change: string;
  leaves: string;
}

/** The story of a row in the language that is spoken. Undefined when no file tells it. */
export function storyOf(stage: string): Story | undefined {
  const story = readStory(stage);
  const said = (line: string) => either(line, storiesInChinese[line] ?? line);
  return story && { problem: said(story.problem), change: said(story.change), leaves: said(story.leaves) };
}

/** The story of a row in English, read from its file. Undefined when no file tells it. */
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

/** `4-ttl` as `Stage 4 · ttl`, in both languages. An external lock keeps its name. */
export const titleOf = (stage: string): Both => rowOf(stage)?.title ?? [stage, stage];
/** The same in the language that is spoken. */
export const stageTitle = (stage: string): string => inLanguage(titleOf(stage));
