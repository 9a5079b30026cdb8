// npm run random-kills: kills a random node every second under load, and asks where every unit is.

import { Command } from 'commander';
import dotenv from 'dotenv';
import { lockName } from '../../locks/index.ts';
import { killRandomNodes } from '../orders/random-kills.ts';
import { stageList, wholeNumber } from './options.ts';

const COULD_NOT_RUN = 2;

dotenv.config({ quiet: true });
const { seconds, stage } = new Command('npm run random-kills --')
  .description('Kills a random node every second while buyers buy, pay and refund, and asks where every unit is.')
  .option('--seconds <n>', 'how long', wholeNumber, 120)
  .option('--stage <stage>', 'the lock of the sales, by number or name', oneStage, lockName('8'))
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse()
  .opts<{ seconds: number; stage: string }>();

/** The first signal ends the run in order; the second ends it at once, and the reaper clears up. */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) process.exit(COULD_NOT_RUN);
    stopping.abort();
  });
}

try {
  const lock = stage;
  console.log(`A random node is killed every second, for ${seconds} s under ${lock}.`);
  const { kills, answers, exitCode, accounts, faults } = await killRandomNodes({
    seconds,
    lock,
    signal: stopping.signal,
  });
  console.log(`${kills} kills.`);
  console.table(answers);
  console.log([accounts.trimEnd(), ...faults].join('\n'));
  process.exitCode = exitCode === 0 && faults.length > 0 ? 1 : exitCode;
} catch (error) {
  const why = stopping.signal.aborted ? 'it was interrupted' : error instanceof Error ? error.message : error;
  process.stderr.write(`The run could not be made: ${why}\n`);
  process.exitCode = COULD_NOT_RUN;
}
process.exit();

/** Throws InvalidArgumentError. */
function oneStage(value: string): string {
  return stageList(value)[0] ?? '';
}
