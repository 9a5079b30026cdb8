// npm run page: writes the lesson and its lab as one file, which opens offline.

import { statSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { newCommand } from '../../loadtest/commands/command-line.ts';
import { AS_TAUGHT, runToEnd } from '../../loadtest/commands/ending.ts';
import { packPage } from './pack.ts';

const { out } = newCommand('npm run page', 'Writes the lesson and the virtual lab as one file, which opens offline.')
  .option('--out <file>', 'where it goes', 'lockstep.html')
  .parse()
  .opts<{ out: string }>();

process.exitCode = await runToEnd('The page could not be written', async () => {
  const file = resolve(out);
  writeFileSync(file, await packPage());
  console.log(`${relative(process.cwd(), file)}, ${(statSync(file).size / 1e6).toFixed(2)} MB`);
  return AS_TAUGHT;
});
