// npm run drill: breaks one stage on purpose, and tells each step with its time.

import { Command } from 'commander';
import dotenv from 'dotenv';
import pc from 'picocolors';
import { stepDrills } from './drills/index.ts';
import { stageList, wholeNumber } from './options.ts';
import { readStory, stageTitle } from './report/story.ts';
import { drills, taughtVerdict } from './staircase.ts';
import { type Judgement, runStepDrill } from './step-drill.ts';
import { openLocalTarget, type Target } from './target.ts';

const STOCK = 100;
const COULD_NOT_RUN = 2;

dotenv.config({ quiet: true });
const names = stepDrills.map(({ name }) => name).join(', ');
const command = new Command('npm run drill --')
  .description('Breaks one stage on purpose, step by step.')
  .argument('<drill>', `one of ${names}`)
  .requiredOption('--stage <stages>', 'stages by number or name, such as 3,4 or 4-ttl', stageList)
  .option('--lease <ms>', 'the length of a lease, in milliseconds', wholeNumber, 1_000)
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse();
const drill = stepDrills.find(({ name }) => name === command.args[0]);
if (drill === undefined) command.error(`error: there is no drill ${command.args[0]}: it must be one of ${names}`);
const { stage: stages, lease } = command.opts<{ stage: string[]; lease: number }>();
if (lease < 100) command.error('error: --lease must be at least 100 ms, so that a step can fall inside it');

const stopAsked = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => reject(new Error('stopped before the end')));
  }
});
stopAsked.catch(() => {});

let target: Target | undefined;
try {
  target = await openLocalTarget({
    env: { LOG_LEVEL: process.env.LOG_LEVEL || 'warn' },
    onLine: (name, line) => process.stderr.write(`${name}: ${line}\n`),
  });
  const died = target.partDied.then((sentence) => {
    throw new Error(sentence);
  });
  process.exitCode = await Promise.race([runAll(target), stopAsked, died]);
} catch (error) {
  process.stderr.write(`The drill could not be run: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = COULD_NOT_RUN;
}
await target?.close();
process.exit();

/** Resolves with 0 when every stage did as the staircase says, with 1 when one did not or is unknown. */
async function runAll(target: Target): Promise<number> {
  if (drill === undefined) return COULD_NOT_RUN;
  console.log(`${pc.bold(drill.name)}: ${drills[drill.name]?.asks}`);
  let isAsTaught = true;
  for (const stage of stages) {
    console.log(`\n${pc.bold(stageTitle(stage))}  ${pc.dim(readStory(stage)?.change ?? '')}`);
    const judgement = await runStepDrill(drill, {
      target,
      stage,
      leaseMs: lease,
      stock: STOCK,
      async tell(sentence, atMs) {
        console.log(`  ${pc.dim(`${(atMs / 1000).toFixed(2).padStart(6)} s`)}  ${sentence}`);
      },
    });
    if (!tellVerdict(stage, judgement)) isAsTaught = false;
  }
  return isAsTaught ? 0 : 1;
}

/** Prints the verdict. Returns false when it is not what the staircase says, or unknown. */
function tellVerdict(stage: string, { verdict, reason, witnesses }: Judgement): boolean {
  const taught = taughtVerdict(Number.parseInt(stage, 10), drill?.name ?? '');
  const signs = { pass: pc.green('✔ holds'), fail: pc.red('✘ fails'), unknown: pc.yellow('? unknown') };
  const compared =
    taught === null || verdict === 'unknown' ? '' : verdict === taught ? ', as taught' : ', NOT as taught';
  console.log(`  ${pc.bold(signs[verdict] + compared)}  ${reason}`);
  for (const witness of witnesses.slice(0, 3)) console.log(`    ${pc.dim(`${witness}.`)}`);
  return verdict !== 'unknown' && (taught === null || verdict === taught);
}
