// npm run drill: breaks one stage on purpose, and tells each step with its time.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import dotenv from 'dotenv';
import pc from 'picocolors';
import { backendOf } from '../locks/index.ts';
import type { Drill, DrillOutcome } from './drill.ts';
import { drills as allDrills } from './drills/index.ts';
import { leaseLength, stageList } from './options.ts';
import { readStory, stageTitle } from './report/story.ts';
import { drills as columns, taughtVerdict } from './staircase.ts';
import { createTargets } from './targets.ts';

const COULD_NOT_RUN = 2;
const SHOWN_WITNESSES = 3;

dotenv.config({ quiet: true });
const stepDrills = allDrills.filter(({ kind }) => kind === 'steps');
const names = stepDrills.map(({ name }) => name).join(', ');
const command = new Command('npm run drill --')
  .description('Breaks one stage on purpose, step by step.')
  .argument('<drill>', `one of ${names}`)
  .requiredOption('--stage <stages>', 'stages by number or name, such as 3,4 or 4-ttl', stageList)
  .option('--lease <ms>', 'the length of a lease, in milliseconds', leaseLength, 1_000)
  .option('--pause', 'wait for Enter between the steps', false)
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse();
const drill = stepDrills.find(({ name }) => name === command.args[0]);
if (drill === undefined) command.error(`error: there is no drill ${command.args[0]}: it must be one of ${names}`);
const { stage: stages, lease, pause } = command.opts<{ stage: string[]; lease: number; pause: boolean }>();

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(COULD_NOT_RUN);
    stopping.abort(new Error('stopped before the end'));
  });
}
const backends = [...new Set(stages.map(backendOf))];
const targets = createTargets({ backends, onDeath: (sentence) => stopping.abort(new Error(sentence)) });
/** What the audience types; a line is Enter. */
const keyboard = pause ? createInterface({ input: process.stdin }) : undefined;
keyboard?.on('close', () => stopping.abort(new Error('nobody is left to press Enter')));

try {
  process.exitCode = await runAll(drill as Drill);
} catch (error) {
  process.stderr.write(`The drill could not be run: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = COULD_NOT_RUN;
}
await targets.close();
process.exit();

/** Resolves with 0 when every stage did as the staircase says, with 1 when one did not or is unknown. */
async function runAll(drill: Drill): Promise<number> {
  const target = await targets.open(drill.kind);
  console.log(`${pc.bold(drill.name)}: ${columns[drill.name]?.asks}`);
  let isAsTaught = true;
  for (const stage of stages) {
    stopping.signal.throwIfAborted();
    console.log(`\n${pc.bold(stageTitle(stage))}  ${pc.dim(readStory(stage)?.change ?? '')}`);
    const outcome = await drill.run({
      target,
      stage,
      settings: { requests: 0, connections: 0, stock: 0, units: 0, leaseMs: lease },
      signal: stopping.signal,
      onProgress() {},
      tell,
    });
    if (!tellVerdict(drill.name, stage, outcome)) isAsTaught = false;
  }
  return isAsTaught ? 0 : 1;
}

/** Prints what happens, and waits for Enter between two steps if it was asked to. */
async function tell(sentence: string, atMs: number, isStep: boolean) {
  console.log(`  ${pc.dim(`${(atMs / 1000).toFixed(2).padStart(6)} s`)}  ${sentence}`);
  if (!isStep || keyboard === undefined) return;
  process.stdout.write(pc.dim('            Enter goes on. '));
  await once(keyboard, 'line', { signal: stopping.signal });
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
