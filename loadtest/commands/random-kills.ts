// npm run random-kills: kills a random node every second under load, and asks where every unit is.

import { lockName } from '../../locks/index.ts';
import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { killRandomNodes } from '../orders/random-kills.ts';
import { newCommand, stageList, wholeNumber } from './command-line.ts';
import { exitWhenWritten, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';

loadEnvFile();
const { seconds, stage } = newCommand(
  'npm run random-kills',
  'Kills a random node every second while buyers buy, pay and refund, and asks where every unit is.',
)
  .option('--seconds <n>', 'how long', wholeNumber, 120)
  .option('--stage <stage>', 'the lock of the sales, by number or name', oneStage, lockName('8'))
  .parse()
  .opts<{ seconds: number; stage: string }>();

const stopping = new AbortController();
stopOnSignal(stopping, new Error('it was interrupted'));

process.exitCode = await runToEnd('The run could not be made', async () => {
  console.log(`A random node is killed every second, for ${seconds} s under ${stage}.`);
  const { kills, answers, exitCode, accounts, faults } = await killRandomNodes({
    seconds,
    lock: stage,
    signal: stopping.signal,
    onProgress: (sentence) => console.log(sentence),
  });
  console.log(`${kills} kills.`);
  console.table(answers);
  console.log([accounts.trimEnd(), ...faults].join('\n'));
  return exitCode === 0 && faults.length > 0 ? NOT_AS_TAUGHT : exitCode;
});
await exitWhenWritten();

/** Throws InvalidArgumentError. */
function oneStage(value: string): string {
  return stageList(value)[0] ?? '';
}
