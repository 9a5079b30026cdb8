// npm run page: writes the lesson and its lab as one file, which opens offline, or as a folder for a web server.

import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packPage } from '../workshop/page/pack.ts';
import { newCommand } from './command-line/command.ts';
import { AS_EXPECTED, endWith } from './command-line/ending.ts';

const { out, hosted, reports } = newCommand(
  'npm run page',
  'Writes the lesson and the virtual lab as one file, which opens offline.',
  ['reports'],
  { reports: { help: 'where the report of the last run is' } },
)
  .option('--out <file>', 'where it goes', 'lockstep.html')
  .option('--hosted <folder>', 'writes it as the index.html of a web server, with the report of the last run beside it')
  .parse()
  .opts<{ out: string; hosted?: string; reports: string }>();

await endWith('The page could not be written', async () => {
  const file = hosted === undefined ? resolve(out) : join(resolve(hosted), 'index.html');
  if (hosted === undefined) writeFileSync(file, await packPage());
  else {
    const report = join(resolve(reports), 'latest/report.html');
    if (!existsSync(report)) throw new Error(`there is no report yet: npm run staircase writes ${report}`);
    mkdirSync(resolve(hosted), { recursive: true });
    copyFileSync(report, join(resolve(hosted), 'report.html'));
    writeFileSync(file, withReport(await packPage()));
  }
  console.log(`${file}, ${(statSync(file).size / 1e6).toFixed(2)} MB`);
  return AS_EXPECTED;
});

/** The page with a link to the report beside it. */
function withReport(page: string): string {
  return page.replace('<link rel="icon"', '<link rel="alternate" href="report.html"><link rel="icon"');
}
