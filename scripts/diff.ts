// npm run diff: shows what a stage changes in the file of the stage before.

import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import pc from 'picocolors';
import { lockName, locks } from '../locks/index.ts';
import { projectDir } from './stack/parts.ts';

/** The stages that have one before them, by name and in order: their number is their place, counted from 1. */
const stages = Object.keys(locks).filter((name) => /^[1-9]/.test(name));

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

/** The diff as a terminal shows it. */
export function coloured(diff: string, { bold, cyan, green, red } = pc.createColors(true)): string {
  return diff
    .split('\n')
    .map((line) => {
      if (/^(---|\+\+\+) /.test(line)) return bold(line);
      if (line.startsWith('@@')) return cyan(line);
      if (line.startsWith('+')) return green(line);
      return line.startsWith('-') ? red(line) : line;
    })
    .join('\n');
}

function readText(file: string) {
  return readFileSync(join(projectDir, file), 'utf8');
}

/** Prints the diff of the stage that the arguments name. */
function main(args: string[]) {
  const stage = stages.indexOf(lockName(args[0] ?? '') ?? '') + 1;
  if (args.length !== 1 || stage === 0) {
    const last = `${stages.length} or ${stages.at(-1)}`;
    console.error(`Say which stage: npm run diff -- N, with N from 1 or ${stages[0]} to ${last}.`);
    process.exitCode = 2;
    return;
  }
  const diff = stageDiff(stage);
  // The reader of the output may have closed it.
  process.stdout.on('error', () => process.exit());
  process.stdout.write(process.stdout.isTTY && pc.isColorSupported ? coloured(diff) : diff);
}

const isRun = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isRun) main(process.argv.slice(2));
