// npm run drill: breaks one stage on purpose, and prints each step with its time.

import { Command } from 'commander';
import dotenv from 'dotenv';
import pc from 'picocolors';
import { drills as allDrills } from '../drills/index.ts';
import type { Drill, DrillOutcome } from '../harness/drill.ts';
import { createTargets } from '../harness/targets.ts';
import { guardDrills, keyDrills, scheduleDrills } from '../orders/drills/index.ts';
import { readStory, stageTitle } from '../report/story.ts';
import { guardOfRow, guardStaircase, rowOfGuard } from '../staircase/guards.ts';
import { keyStaircase, rowOfStrategy, strategyOfRow } from '../staircase/keys.ts';
import { columnOf, rowOf, taughtVerdict } from '../staircase/lookup.ts';
import { rowOfSchedule, schedules } from '../staircase/schedules.ts';
import { AS_TAUGHT, COULD_NOT_RUN, exitWhenWritten, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';
import { openKeyboard } from './keyboard.ts';
import { leaseLength, namesAmong, stageList } from './options.ts';

const SHOWN_WITNESSES = 3;

dotenv.config({ quiet: true });
const guards = Object.keys(guardStaircase.rows).map(guardOfRow);
const scheduleKinds = Object.keys(schedules);
const strategies = Object.keys(keyStaircase.rows).map(strategyOfRow);
const lockDrills = allDrills.filter(({ kind }) => kind === 'steps');
/** Whose drills they are, and the option that names the rows. */
const families = [
  { drills: lockDrills, option: 'stage' },
  { drills: guardDrills, option: 'guard' },
  { drills: scheduleDrills, option: 'schedule' },
  { drills: keyDrills, option: 'idempotency' },
] as const;
const names = (drills: Drill[]) => drills.map(({ name }) => name).join(', ');

const command = new Command('npm run drill --')
  .description('Breaks one stage on purpose, step by step.')
  .argument(
    '<drill>',
    `of a lock: ${names(lockDrills)}; of the clean-up: ${names(guardDrills)}; of its schedules: ${names(scheduleDrills)}; of the keys: ${names(keyDrills)}`,
  )
  .option('--stage <stages>', 'stages by number or name, such as 3,4 or 4-ttl', stageList)
  .option('--guard <guards>', `guards of the clean-up: ${guards.join(', ')}`, (value: string) =>
    namesAmong(guards, value).map(rowOfGuard),
  )
  .option('--schedule <kinds>', `schedules of the clean-up: ${scheduleKinds.join(', ')}`, (value: string) =>
    namesAmong(scheduleKinds, value).map(rowOfSchedule),
  )
  .option('--idempotency <strategies>', `what is done with the keys: ${strategies.join(', ')}`, (value: string) =>
    namesAmong(strategies, value).map(rowOfStrategy),
  )
  .option('--lease <ms>', 'the length of a lease, in milliseconds', leaseLength, 1_000)
  .option('--pause', 'wait for Enter between the steps', false)
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse();
const { drill, rows } = chosen();
const { lease, pause } = command.opts<{ lease: number; pause: boolean }>();

const stopping = new AbortController();
stopOnSignal(stopping, new Error('stopped before the end'));
const backends = [...new Set(rows.flatMap((row) => rowOf(row)?.backends ?? []))];
const targets = createTargets({ backends, onDeath: (sentence) => stopping.abort(new Error(sentence)) });
const nobodyIsLeft = () => stopping.abort(new Error('nobody is left to press Enter'));
const keyboard = pause ? openKeyboard(process.stdin, nobodyIsLeft) : undefined;

process.exitCode = await runToEnd('The drill could not be run', runAll, targets.close);
await exitWhenWritten();

/** The drill and the rows that the command line names. Ends the process when they do not go together. */
function chosen(): { drill: Drill; rows: string[] } {
  const [name = ''] = command.args;
  const given = command.opts<Partial<Record<(typeof families)[number]['option'], string[]>>>();
  const family = families.find(({ drills }) => drills.some((drill) => drill.name === name));
  const drill = family?.drills.find((drill) => drill.name === name);
  if (family === undefined || drill === undefined) {
    const known = names(families.flatMap(({ drills }) => drills));
    return command.error(`error: there is no drill ${name}: it must be one of ${known}`);
  }
  const rows = given[family.option];
  const others = families.filter(({ option }) => option !== family.option && given[option] !== undefined);
  if (rows === undefined || others.length > 0) {
    return command.error(
      `error: ${name} goes with --${family.option}${others.map(({ option }) => `, not with --${option}`).join('')}`,
    );
  }
  return { drill, rows };
}

/** Resolves with the exit code: whether every row did as the staircase says. */
async function runAll(): Promise<number> {
  await targets.open(drill.kind, 0, rows[0]);
  console.log(`${pc.bold(drill.name)}: ${columnOf(drill.name)?.asks}`);
  let isAsTaught = true;
  for (const stage of rows) {
    stopping.signal.throwIfAborted();
    const target = await targets.open(drill.kind, 0, stage);
    console.log(`\n${pc.bold(stageTitle(stage))}  ${pc.dim(readStory(stage)?.change ?? '')}`);
    const outcome = await drill.run({
      target,
      stage,
      settings: { requests: 0, connections: 0, stock: 0, units: 0, leaseMs: lease },
      signal: stopping.signal,
      onProgress() {},
      narrate,
    });
    if (!tellVerdict(drill.name, stage, outcome)) isAsTaught = false;
  }
  return isAsTaught ? AS_TAUGHT : NOT_AS_TAUGHT;
}

/** Prints what happens, and waits for Enter between two steps if it was asked to. */
async function narrate(sentence: string, atMs: number, isStep: boolean) {
  console.log(`  ${pc.dim(`${(atMs / 1000).toFixed(2).padStart(6)} s`)}  ${sentence}`);
  const showPrompt = () => void process.stdout.write(pc.dim('            Enter goes on. '));
  if (isStep) await keyboard?.waitForEnter(showPrompt, stopping.signal);
}

/** Prints the verdict. Returns false when it is not what the staircase says, or unknown. */
function tellVerdict(
  name: string,
  stage: string,
  { verdict, reasons, witnesses, witnessCount }: DrillOutcome,
): boolean {
  const taught = taughtVerdict(stage, name);
  const isSettled = verdict === 'pass' || verdict === 'fail';
  const signs = {
    pass: pc.green('✔ holds'),
    fail: pc.red('✘ fails'),
    unknown: pc.yellow('? unknown'),
    'not-applicable': pc.dim('– not applicable'),
  };
  const compared = taught === null || !isSettled ? '' : verdict === taught ? ', as taught' : ', NOT as taught';
  console.log(`  ${pc.bold(signs[verdict] + compared)}  ${reasons.join(' ')}`);
  for (const witness of witnesses.slice(0, SHOWN_WITNESSES)) console.log(`    ${pc.dim(`${witness}.`)}`);
  const more = witnessCount - SHOWN_WITNESSES;
  if (more > 0) console.log(`    ${pc.dim(`and ${more} more`)}`);
  return verdict === 'not-applicable' || (isSettled && (taught === null || verdict === taught));
}
