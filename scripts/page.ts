// npm run page: writes the lesson and its simulated lab as one HTML file that works offline, or as a site for a web server.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { formatDuration, formatNumber } from '../loadtest/narration/numbers.ts';
import { Interrupted } from '../loadtest/run/cells.ts';
import { storyOf } from '../loadtest/run/tracks.ts';
import { locks } from '../locks/index.ts';
import { packPage } from '../workshop/page/pack.ts';
import { headOf, siteFiles, siteOf } from '../workshop/teaching/site.ts';
import { callerDir, newCommand } from './command-line/command.ts';
import { AS_EXPECTED, endWith, stopOnSignal } from './command-line/ending.ts';
import { sampleReport } from './command-line/sample-report.ts';

const command = newCommand('page', ['reports'], { reports: { help: 'folder with the report of the last run' } })
  .option('--out <file>', 'output file', 'lockstep.html')
  .option('--hosted <folder>', 'write a site for a web server, with the report of the last run or a sample')
  .option('--address <url>', 'with --hosted: the address of the site', addressOfSite)
  .parse();
const { out, hosted, address, reports } = command.opts<{
  out: string;
  hosted?: string;
  address?: string;
  reports: string;
}>();
if (address !== undefined && hosted === undefined) command.error('error: --address needs --hosted');
const stopping = stopOnSignal(new Interrupted('The run was interrupted.'));

await endWith('The page could not be written', async () => {
  if (hosted === undefined) write(resolve(callerDir, out), await packPage());
  else {
    const folder = resolve(callerDir, hosted);
    mustTake(folder);
    const site = siteOf(await packPage({}, headOf(address)), await lastReport(), address);
    for (const name of siteFiles) write(join(folder, name), site[name]);
  }
  return AS_EXPECTED;
});

function write(file: string, content: string | Buffer) {
  writeFileSync(file, content);
  console.log(`${file}, ${formatNumber(Math.ceil(statSync(file).size / 1e3))} kB`);
}

/** Any other file in the folder would be published too. Checked before a sample is played. */
function mustTake(folder: string) {
  const isOther = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false;
  if (isOther) throw new Error(`${folder} is not a folder.`);
  mkdirSync(folder, { recursive: true });
  const other = readdirSync(folder).find((name) => !siteFiles.some((file) => file === name));
  if (other !== undefined) throw new Error(`${folder} contains ${other}. Name a new or an empty folder.`);
}

async function lastReport(): Promise<string> {
  const report = join(resolve(callerDir, reports), 'latest/report.html');
  if (existsSync(report)) return readFileSync(report, 'utf8');
  const cells = storyOf('locks', Object.keys(locks));
  console.log(`There is no report yet. Playing ${cells.length} drills in simulated time for a sample.`);
  const beganAt = performance.now();
  const sample = await sampleReport('page', cells, stopping.signal);
  console.log(`The sample took ${formatDuration(performance.now() - beganAt)}.`);
  return sample;
}

/** The address of a folder, ending with a slash. */
function addressOfSite(value: string): string {
  if (!URL.canParse(value) || !/^https?:\/\//.test(value))
    throw new InvalidArgumentError('It must be an address such as https://example.org/lockstep/.');
  const { origin, pathname } = new URL(value);
  return `${origin}${pathname.replace(/\/?$/, '/')}`;
}
