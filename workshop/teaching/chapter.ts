// What a chapter shows of the code, of the questions and of the scenarios: it is made of them.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lockName } from '../../locks/index.ts';
import { projectDir } from '../../stack/parts.ts';
import { withPlayings } from './playings.ts';
import { withQuestions } from './questions.ts';
import { stageDiff } from './stage-diff.ts';

const DIFF = /^```diff\n.*?^```\n/gms;

/** A page of docs/ as it should be now. Throws when it has not what its kind must have, or names what is not there. */
export async function chapterNow(file: string): Promise<string> {
  const chapter = readFileSync(join(projectDir, file), 'utf8');
  const stage = Number.parseInt(basename(file), 10);
  const isOfStage = stage > 0 && lockName(basename(file, '.md')) !== undefined;
  return withPlayings(withQuestions(isOfStage ? withDiff(chapter, stageDiff(stage)) : chapter));
}

function withDiff(chapter: string, diff: string): string {
  const blocks = chapter.match(DIFF) ?? [];
  if (blocks.length !== 1) throw new Error(`There are ${blocks.length} diff blocks, and there must be one.`);
  return chapter.replace(DIFF, () => `\`\`\`diff\n${diff}\`\`\`\n`);
}
