// What a stage changes in the file of the stage before.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { lockName } from '../../locks/index.ts';
import { projectDir } from '../../stack/parts.ts';

/** The lesson of a stage, 1 to 8: the unified diff from the file of the stage before, with the whole file as context. */
export function stageDiff(stage: number): string {
  const [before, after] = [stage - 1, stage].map((number) => `locks/${lockName(String(number))}.ts`) as [
    string,
    string,
  ];
  return createTwoFilesPatch(before, after, readText(before), readText(after), undefined, undefined, {
    context: Infinity,
    headerOptions: FILE_HEADERS_ONLY,
  });
}

function readText(file: string) {
  return readFileSync(join(projectDir, file), 'utf8');
}
