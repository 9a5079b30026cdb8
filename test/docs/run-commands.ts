// npx tsx test/docs/run-commands.ts: runs the commands of the pages as they stand, and records what came of them.

import { cpSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { AS_TAUGHT, COULD_NOT_RUN, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from '../../loadtest/commands/ending.ts';
import { describeMachine } from '../../loadtest/commands/environment.ts';
import { countOf, formatDuration } from '../../loadtest/evidence/numbers.ts';
import { dismissReaper, makeTempDir, projectDir } from '../../scripts/stack/parts.ts';
import { readText } from '../lesson/project-files.ts';
import { type Checkout, copyCheckout } from '../mutations/checkout.ts';
import { answersIn, keyOf, leavesOut, type PageRun, pages, readLeftOut, runsOf } from './page-runs.ts';
import { exitCodeOf, isAsExpected, keep, type Ran, readRecord } from './record.ts';
import { runPageLine } from './run-page-line.ts';

/** Where the output of each command is kept, to look at. */
const OUTPUTS = join(projectDir, 'reports/commands-of-the-pages');

const program = new Command('npx tsx test/docs/run-commands.ts')
  .description(
    'Runs the commands of the pages as they stand, in a copy of the checkout, and records in docs/measured/commands.json what came of them.',
  )
  .argument('[pages...]', 'such as README.md docs/live.md; all when none is given', page, pages)
  .option('--only <text>', 'those that have this in them; the others stay as they were recorded', '')
  .option('--left', 'those that are not recorded yet, or that did not end as expected', false)
  .option('--list', 'tells them, and runs nothing', false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse();
const chosen = program.processedArgs[0] as string[];
const { only, left, list } = program.opts<{ only: string; left: boolean; list: boolean }>();

const stopping = new AbortController();
stopOnSignal(stopping, new Error('it was interrupted'));

const runsIn = (files: string[]) => [
  ...new Map(files.flatMap((file) => runsOf(readText(file))).map((run) => [keyOf(run), run])).values(),
];
const all = runsIn(pages);

process.exitCode = await runToEnd('The commands could not be run', run);
await dismissReaper();

function titleOf(each: PageRun): string {
  const [first = '', ...others] = keyOf(each).split('\n');
  return others.length === 0 ? first : `${first} … (${countOf(others.length, 'line')} more)`;
}

async function run(): Promise<number> {
  const leftOut = readLeftOut();
  const recorded = new Map(readRecord().map((ran) => [keyOf(ran), ran]));
  const isLeft = (each: PageRun) => {
    const ran = recorded.get(keyOf(each));
    return ran === undefined || !isAsExpected(ran);
  };
  const runs = runsIn(chosen)
    .filter((each) => !leftOut.some((one) => leavesOut(one, each)))
    .filter((each) => keyOf(each).includes(only) && (!left || isLeft(each)));
  print(`${countOf(runs.length, 'command')}.`);
  if (list) {
    for (const each of runs) print(titleOf(each));
    return AS_TAUGHT;
  }
  const { commit } = describeMachine();
  const temp = makeTempDir();
  let wrong = 0;
  try {
    const copy = copyToRunIn(join(temp.dir, 'lockstep'));
    mkdirSync(OUTPUTS, { recursive: true });
    for (const [index, each] of runs.entries()) {
      const startedAt = performance.now();
      const { output, ...ended } = await runPageLine(each, copy, stopping.signal);
      const tookMs = Math.round(performance.now() - startedAt);
      const answers = each.stack === undefined ? [] : answersIn(output);
      const at = new Date().toISOString();
      const ran: Ran = { ...each, ...ended, expected: exitCodeOf(each), answers, tookMs, at, commit };
      keep([ran], all);
      const name = titleOf(each)
        .replaceAll(/[^\w.=-]+/g, '_')
        .slice(0, 120);
      writeFileSync(join(OUTPUTS, `${name}.txt`), `${keyOf(each)}\n\n${output}\n${JSON.stringify(ended, null, 2)}\n`);
      if (!isAsExpected(ran)) wrong += 1;
      print(`[${index + 1}/${runs.length}] ${formatDuration(tookMs).padStart(7)} ${wordFor(ran)} ${titleOf(each)}`);
    }
  } finally {
    temp.remove();
  }
  if (wrong > 0) print(`\n${countOf(wrong, 'command')} did not end as expected. What they printed: ${OUTPUTS}`);
  return wrong > 0 ? NOT_AS_TAUGHT : AS_TAUGHT;
}

/** A copy with packages of its own, so that no script of npm installs them. */
function copyToRunIn(dir: string): Checkout {
  const copy = copyCheckout(projectDir, dir);
  cpSync(join(projectDir, 'node_modules/.package-lock.json'), join(dir, 'node_modules/.package-lock.json'));
  for (const lock of ['package-lock.json', 'loadtest/peers/package-lock.json']) utimesSync(join(dir, lock), 0, 0);
  return copy;
}

function wordFor(ran: Ran): string {
  if (isAsExpected(ran)) return `${ran.exitCode}, as expected `;
  const faults = ran.faults.map((fault) => ` ${fault}`);
  return `${ran.exitCode} instead of ${ran.expected}${faults.join('')} `;
}

function print(line: string) {
  process.stdout.write(`${line}\n`);
}

/** Throws InvalidArgumentError. */
function page(name: string, before: string[]): string[] {
  if (!pages.includes(name)) throw new InvalidArgumentError(`There is no page ${name}.`);
  return before === pages ? [name] : [...before, name];
}
