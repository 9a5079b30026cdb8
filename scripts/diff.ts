// npm run diff: shows what a stage changes in the file of the stage before, and keeps the diffs and questions of the chapters up to date.

import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import pc from 'picocolors';
import { lockName, locks } from '../locks/index.ts';
import { withQuestions } from './questions.ts';
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

/** The chapter with `diff` in its diff block. Throws when the chapter has none, or several. */
export function withDiff(chapter: string, diff: string): string {
  const blocks = chapter.match(diffBlock) ?? [];
  if (blocks.length !== 1) throw new Error(`has ${blocks.length} diff blocks, and must have one`);
  return chapter.replace(diffBlock, () => `\`\`\`diff\n${diff}\`\`\`\n`);
}

const diffBlock = /^```diff\n.*?^```\n/gms;

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

/** Brings the diff block and the questions of every chapter up to date. Returns a line for each that it changed, or that it could not. */
function writeChapters() {
  return stages.flatMap((name, index) => {
    const file = `docs/stages/${name}.md`;
    if (!existsSync(join(projectDir, file))) return { problem: `${file} is missing.` };
    try {
      const chapter = readText(file);
      const updated = withQuestions(withDiff(chapter, stageDiff(index + 1)));
      if (updated === chapter) return [];
      writeFileSync(join(projectDir, file), updated);
      return { change: `${file} is up to date now.` };
    } catch (error) {
      return { problem: `${file} ${(error as Error).message}.` };
    }
  });
}

function readText(file: string) {
  return readFileSync(join(projectDir, file), 'utf8');
}

/** What the arguments ask for: the number of a stage, or that the chapters are written. Undefined when it is not allowed. */
export function wanted(args: string[]): number | 'write' | undefined {
  const [argument = ''] = args;
  if (args.length !== 1) return undefined;
  if (argument === '--write') return 'write';
  const stage = stages.indexOf(lockName(argument) ?? '') + 1;
  return stage > 0 ? stage : undefined;
}

function main(args: string[]) {
  const what = wanted(args);
  if (what === 'write') {
    for (const { change, problem } of writeChapters()) {
      if (change) console.log(change);
      if (problem) console.error(problem);
      if (problem) process.exitCode = 1;
    }
  } else if (what !== undefined) {
    const diff = stageDiff(what);
    // The reader of the output may have closed it.
    process.stdout.on('error', () => process.exit());
    process.stdout.write(process.stdout.isTTY && pc.isColorSupported ? coloured(diff) : diff);
  } else {
    const last = `${stages.length} or ${stages.at(-1)}`;
    console.error(`Say which stage: npm run diff -- N, with N from 1 or ${stages[0]} to ${last}; or --write.`);
    process.exitCode = 2;
  }
}

const isRun = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isRun) main(process.argv.slice(2));
