// npm run pack-room: makes one file with the project and its packages, for a room without internet, and tries it.

import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { newCommand, reportsOption } from '../loadtest/commands/command-line.ts';
import { AS_TAUGHT, exitWhenWritten, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from '../loadtest/commands/ending.ts';
import { countOf } from '../loadtest/evidence/numbers.ts';
import { dismissReaper, makeTempDir } from '../scripts/stack/parts.ts';
import { freePort } from '../scripts/stack/ports.ts';
import { type Contents, contentsOf, fillFolder, pack, ROOT, unpack } from './room-archive.ts';
import { type Platform, platforms } from './room-lock.ts';
import { runProgram } from './run-program.ts';

const NAME = 'lockstep-room.tar.gz';
/** How long one step of the trial may take, in milliseconds. */
const TRIAL_LIMIT_MS = 600_000;

const { reports } = newCommand(
  'npm run pack-room',
  'Makes one file with the project and its packages for Linux and macOS, and tries it without a registry.',
)
  .addOption(reportsOption('where it goes, in a folder room'))
  .parse()
  .opts<{ reports: string }>();

const stopping = new AbortController();
const { signal } = stopping;
stopOnSignal(stopping, new Error('stopped'));
const temp = makeTempDir();
const archive = join(resolve(reports), 'room', NAME);
const unfinished = `${archive}.part`;

process.exitCode = await runToEnd('The archive could not be made', make, async () => {
  rmSync(unfinished, { force: true });
  temp.remove();
  await dismissReaper();
});
await exitWhenWritten();

/** Resolves with 0 when all that can be looked at is there, and what can be tried works. */
async function make(): Promise<number> {
  const [filled, opened] = [join(temp.dir, 'filled'), join(temp.dir, 'opened')];
  for (const dir of [filled, opened]) mkdirSync(dir);
  console.log('Fetching the packages for Linux and macOS; what npm has fetched before is not fetched again.');
  await fillFolder({
    dir: filled,
    signal,
    onProgress(done, total) {
      const isNextTenth = Math.floor((10 * done) / total) > Math.floor((10 * (done - 1)) / total);
      if (isNextTenth) console.error(`Packages ${done} of ${total}`);
    },
  });
  writeFileSync(join(filled, ROOT, 'room/README.md'), readme());
  mkdirSync(resolve(reports, 'room'), { recursive: true });
  console.log('Packing.');
  await pack(filled, unfinished, signal);

  console.log('Unpacking it again, to look into it.');
  const root = await unpack(unfinished, opened, signal);
  const contents = platforms.map((platform) => contentsOf(root, platform));
  const faults = [...new Set(contents.flatMap((one) => one.faults))];
  if (faults.length > 0) throw new Error(`it is not complete: ${faults.join('; ')}`);
  const trial = await tried(root);
  renameSync(unfinished, archive);
  console.log(`\n${relative(process.cwd(), archive)}, ${megabytes(statSync(archive).size)} MB\n`);
  for (const one of contents) console.log(told(one, trial));
  return trial.problem === undefined ? AS_TAUGHT : NOT_AS_TAUGHT;
}

interface Trial {
  /** Undefined when this machine is none of the platforms. */
  platform?: Platform;
  problem?: string;
}

/** Installs from the unpacked archive as in a room: with a new home, a cache that is empty, and no registry that answers. */
async function tried(root: string): Promise<Trial> {
  const platform = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch);
  if (platform === undefined) return {};
  const home = join(temp.dir, 'home');
  mkdirSync(home);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: temp.dir,
    npm_config_registry: `http://127.0.0.1:${await freePort()}/`,
    npm_config_fetch_retries: '0',
  };
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TRIAL_LIMIT_MS)]);
  const run = (command: string, ...args: string[]) => runProgram(command, args, { cwd: root, env, signal: limited });
  try {
    console.log('Installing from it, without a registry.');
    await run('sh', 'scripts/packages.sh');
    await run('sh', 'scripts/packages.sh', 'loadtest/peers');
    console.log('Starting a stack with what was installed.');
    await run('npm', 'run', '--silent', 'doctor', '--', '--json');
    return { platform };
  } catch (error) {
    if (signal.aborted) throw error;
    return { platform, problem: error instanceof Error ? error.message : String(error) };
  }
}

function told({ platform, packages, bytes, missing }: Contents, trial: Trial): string {
  const lines = [`${platform.title.padEnd(12)} ${countOf(packages, 'package')}, ${megabytes(bytes)} MB`];
  for (const { name, cost } of missing) lines.push(`  not in the registry: ${name}${cost ? `, so ${cost}` : ''}`);
  if (platform !== trial.platform) lines.push('  not tried: this machine is another one');
  else if (trial.problem === undefined) lines.push('  tried: installed without a registry, and a stack sold a unit');
  else lines.push(`  tried, and it does not work: ${trial.problem}`);
  return lines.join('\n');
}

/** What stands beside the packages. */
function readme(): string {
  return `# Without internet

All packages are in the folder packages, and package-lock.json names them there. So nothing is fetched:

    npm run doctor    # installs the packages, and says what this machine lacks
    npm start

You need Node 20.19 or newer. The packages are for ${platforms.map(({ title }) => title).join(', ')}.
Servers that are no package of npm are not here: npm run doctor names them.
`;
}

function megabytes(bytes: number) {
  return Math.round(bytes / 1e6);
}
