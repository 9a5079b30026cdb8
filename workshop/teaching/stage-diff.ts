// The diff between a stage's file and that of the stage before.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { lockName } from '../../locks/index.ts';
import { projectDir } from '../../stack/parts.ts';

const fileOf = (stage: number) => `locks/${lockName(String(stage))}.ts`;
const textOf = (file: string) => readFileSync(join(projectDir, file), 'utf8');

/** The lesson of a stage, 1 to 8: the unified diff from the previous stage's file, with the whole file as context. */
export const stageDiff = (stage: number) => diffOf(stage, textOf);

/** The same without the head comment of each file, which the chapter quotes. */
export const codeDiff = (stage: number) => diffOf(stage, (file) => textOf(file).replace(/^(\/\/.*\n)+\n/, ''));

function diffOf(stage: number, read: (file: string) => string): string {
  const [before, after] = [fileOf(stage - 1), fileOf(stage)];
  return createTwoFilesPatch(before, after, read(before), read(after), undefined, undefined, {
    context: Infinity,
    headerOptions: FILE_HEADERS_ONLY,
  });
}
