// npm run page: writes the lesson and its lab as one file, which opens offline, or as a site for a web server.

import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { formatDuration } from '../loadtest/narration/numbers.ts';
import { Interrupted } from '../loadtest/run/cells.ts';
import { projectDir } from '../stack/parts.ts';
import { packPage } from '../workshop/page/pack.ts';
import { hostedPage, notFoundPage } from '../workshop/teaching/site.ts';
import { callerDir, newCommand } from './command-line/command.ts';
import { AS_EXPECTED, endWith, stopOnSignal } from './command-line/ending.ts';
import { sampleReport } from './command-line/sample-report.ts';

const command = newCommand(
  'npm run page',
  'Writes the lesson and the virtual lab as one file, which opens offline.',
  ['reports'],
  { reports: { help: 'where the report of the last run is' } },
)
  .option('--out <file>', 'where it goes', 'lockstep.html')
  .option(
    '--hosted <folder>',
    'writes it as a whole site for a web server, with the report of the last run or a sample',
  )
  .option('--address <url>', 'with --hosted: where the site will be found', addressOfSite)
  .parse();
const { out, hosted, address, reports } = command.opts<{
  out: string;
  hosted?: string;
  address?: string;
  reports: string;
}>();
if (address !== undefined && hosted === undefined) command.error('error: --address goes with --hosted');
const stopping = stopOnSignal(new Interrupted('It was interrupted.'));

await endWith('The page could not be written', async () => {
  const file = hosted === undefined ? resolve(callerDir, out) : join(resolve(callerDir, hosted), 'index.html');
  if (hosted === undefined) writeFileSync(file, await packPage());
  else await writeSite(resolve(callerDir, hosted));
  console.log(`${file}, ${(statSync(file).size / 1e6).toFixed(2)} MB`);
  return AS_EXPECTED;
});

async function writeSite(folder: string) {
  mustTake(folder);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('report.html', await lastReport());
  write('404.html', notFoundPage(address));
  copyFileSync(join(projectDir, 'workshop/page/view/icon.svg'), join(folder, 'icon.svg'));
  copyFileSync(join(projectDir, 'docs/images/share.png'), join(folder, 'share.png'));
  write('index.html', hostedPage(await packPage(), address));
}

/** Says so before a sample is played in vain. */
function mustTake(folder: string) {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    throw new Error(`${folder} ${isFile ? 'is no folder' : `can't be written to (${code})`}.`);
  }
}

async function lastReport(): Promise<string> {
  const report = join(resolve(callerDir, reports), 'latest/report.html');
  if (existsSync(report)) return readFileSync(report, 'utf8');
  console.log(
    'There is no report of a run yet. The staircase is played in virtual time for a sample: half a minute, or so.',
  );
  const beganAt = performance.now();
  const sample = await sampleReport(stopping.signal);
  console.log(`The sample was played in ${formatDuration(performance.now() - beganAt)}.`);
  return sample;
}

function addressOfSite(value: string): string {
  if (!URL.canParse(value) || !/^https?:\/\//.test(value))
    throw new InvalidArgumentError('It must be an address such as https://example.org/lockstep/.');
  const { origin, pathname } = new URL(value);
  return `${origin}${pathname.replace(/\/?$/, '/')}`;
}
