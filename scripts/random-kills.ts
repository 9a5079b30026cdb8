// npm run random-kills: kills a random node every second under load, then accounts for every unit.

import { reasoned } from '../loadtest/narration/reasons.ts';
import { narrated } from '../loadtest/narration/steps.ts';
import { killRandomNodes } from '../loadtest/orders/random-kills.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { type GivenWith, newCommand, stageNamed } from './command-line/command.ts';
import { endWith, NOT_AS_EXPECTED, stopOnSignal } from './command-line/ending.ts';

loadEnvFile();
const command = newCommand('random-kills', ['seconds', 'stage'], {
  seconds: { usual: 120 },
  stage: { help: 'the lock to sell under, by number or name', usual: '8' },
}).parse();
const { seconds, stage: version } = command.opts<GivenWith<'seconds' | 'stage'>>();
const stage = stageNamed(version, command);

const stopping = stopOnSignal(new Error('interrupted'));

await endWith('The run failed', async () => {
  console.log(`Killing a random node every second for ${seconds} s, under ${stage}.`);
  const { kills, answers, exitCode, accounts, faults } = await killRandomNodes({
    seconds,
    lock: stage,
    signal: stopping.signal,
    onProgress: (sentence) => console.log(narrated(sentence)),
  });
  console.log(`${kills} kills.`);
  const inDoubt = Object.fromEntries(Object.entries(answers.inDoubt).map(([code, count]) => [`${code}?`, count]));
  console.table({ sold: answers.sold, ...answers.refused, ...inDoubt });
  console.log([accounts.trimEnd(), ...faults.map(reasoned)].join('\n'));
  return exitCode === 0 && faults.length > 0 ? NOT_AS_EXPECTED : exitCode;
});
