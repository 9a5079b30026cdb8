// npm run diff: shows the diff between a stage's file and that of the stage before.

import pc from 'picocolors';
import { lockName, locks } from '../locks/index.ts';
import { refusalOf } from '../services/inventory/settings/unknown-name.ts';
import { stageDiff } from '../workshop/teaching/stage-diff.ts';

/** The stages that have a predecessor, in order: a stage's number is its place, counted from 1. */
const stages = Object.keys(locks).filter((name) => /^[1-9]/.test(name));

main(process.argv.slice(2));

/** The diff in terminal colours. */
function coloured(diff: string): string {
  const { bold, cyan, green, red } = pc.createColors(true);
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

/** Prints the diff of the named stage. */
function main(args: string[]) {
  const stage = stages.indexOf(lockName(args[0] ?? '') ?? '') + 1;
  if (args.length !== 1 || stage === 0) {
    const allowed = `a number from 1 to ${stages.length}, or one of ${stages.join(', ')}`;
    const [typed, ...others] = args;
    const isOne = typed !== undefined && others.length === 0;
    const why = isOne ? refusalOf(`there is no diff for stage ${typed}`, typed, stages, allowed) : `name ${allowed}`;
    console.error(`error: ${why}`);
    process.exitCode = 2;
    return;
  }
  const diff = stageDiff(stage);
  // The reader of the output may have closed it.
  process.stdout.on('error', () => process.exit());
  process.stdout.write(process.stdout.isTTY && pc.isColorSupported ? coloured(diff) : diff);
}
