// npm run figures: records the runs of which the figures of the documents are made, and writes them there.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import { nodeArgs, projectDir } from '../../scripts/stack/parts.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { figureDocuments, withFigures } from '../figures/documents.ts';
import { readRecord, writeRecord } from '../figures/record.ts';
import { commandOf, type Step, steps } from '../figures/steps.ts';
import { AS_TAUGHT, COULD_NOT_RUN, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';
import { namesAmong } from './options.ts';

/** npm starts its scripts in the folder of the project, wherever it was called. */
const callerDir = process.env['INIT_CWD'] || process.cwd();
const stepNames = steps.map(({ name }) => name);

const { only, take, page, reports } = new Command('npm run figures --')
  .description(
    'Records the runs of which the figures of the documents are made, and writes them there. Nothing else should run meanwhile.',
  )
  .option(
    '--only <runs>',
    `some of them, the others stay as they were recorded: ${stepNames.join(', ')}`,
    (value: string) => namesAmong(stepNames, value),
    stepNames,
  )
  .option(
    '--take <run=folder...>',
    'run nothing, and take these reports, such as prove=reports/latest-prove',
    (value: string, before: Taken[] = []) => [...before, takenIn(value)],
  )
  .option('--page', 'write the figures that were recorded last, and run nothing', false)
  .option('--reports <folder>', 'where the reports go', join(projectDir, 'reports'))
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse()
  .opts<{ only: string[]; take?: Taken[]; page: boolean; reports: string }>();

interface Taken {
  step: Step;
  folder: string;
}

const stopping = new AbortController();
/** The run that is under way. It has a process group of its own: a signal reaches it once, from here. */
let running: ChildProcess | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => running?.kill(signal));
stopOnSignal(stopping, new Error('stopped before the end'));
const say = (line: string) => void process.stdout.write(`${line}\n`);

process.exitCode = await runToEnd('The figures could not be recorded', async () => {
  if (page) return writeFigures();
  return take ? takeAll(take) : recordAll(steps.filter(({ name }) => only.includes(name)));
});

/** Records one run after the other. What was recorded is kept when the next one is interrupted. Resolves with the exit code. */
async function recordAll(wanted: Step[]): Promise<number> {
  const startedAt = performance.now();
  let worst = AS_TAUGHT;
  for (const [at, step] of wanted.entries()) {
    const left = wanted.slice(at).reduce((sum, { minutes }) => sum + minutes, 0);
    const spent = formatDuration(performance.now() - startedAt);
    say(
      pc.bold(
        `\n[${at + 1}/${wanted.length}] ${commandOf(step)}   (${spent} so far, about ${Math.ceil(left)} min left)\n`,
      ),
    );
    const code = await runStep(step);
    if (stopping.signal.aborted) throw stopping.signal.reason;
    if (code === COULD_NOT_RUN) throw new Error(`${commandOf(step)} could not be run.`);
    if (code === NOT_AS_TAUGHT) say(`${commandOf(step)} ended with 1: look at its report.`);
    worst = Math.max(worst, code);
    keep({ step, folder: join(reports, step.latest) });
    writeFigures();
  }
  say(`\nRecorded in ${formatDuration(performance.now() - startedAt)}.`);
  return worst;
}

/** Resolves with the exit code of the run. */
async function runStep({ script, args, env }: Step): Promise<number> {
  const file = script === 'start' ? 'replay' : script;
  running = spawn(process.execPath, [...nodeArgs(`loadtest/commands/${file}.ts`), ...args, '--reports', reports], {
    cwd: projectDir,
    // Nobody's settings but the defaults: a figure of the documents must be what a reader gets.
    env: { ...withoutSettings(process.env), ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const [code] = (await once(running, 'exit')) as [number | null];
  running = undefined;
  return code ?? COULD_NOT_RUN;
}

/** What a file .env says is left out as well: a variable that is set, and empty, is not read from there. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = ['LOCK_VERSION', 'LEASE_MS', 'RETRY_DELAY_MS', 'WAIT_TIMEOUT_MS', 'REDIS_URL', 'MYSQL_URL'];
  return { ...env, ...Object.fromEntries(settings.map((name) => [name, ''])) };
}

function takeAll(taken: Taken[]): number {
  for (const each of taken) keep(each);
  return writeFigures();
}

function keep({ step, folder }: Taken) {
  writeRecord(step.keep(readRecord(), folder));
  say(`${step.name}: taken from ${relative(projectDir, realpathSync(folder))}.`);
}

/** Writes what was recorded into the documents. Returns the exit code. */
function writeFigures(): number {
  const record = readRecord();
  const changed = figureDocuments().filter((file) => {
    const path = join(projectDir, file);
    const document = readFileSync(path, 'utf8');
    const updated = withFigures(document, record, file);
    if (updated !== document) writeFileSync(path, updated);
    return updated !== document;
  });
  say(changed.length > 0 ? `Up to date now: ${changed.join(', ')}.` : 'All figures are up to date.');
  return AS_TAUGHT;
}

/** `prove=reports/latest-prove`. Throws InvalidArgumentError for a run that is not known. */
function takenIn(value: string): Taken {
  const [name = '', ...rest] = value.split('=');
  const step = steps.find((each) => each.name === name);
  if (step === undefined || rest.length === 0) {
    throw new InvalidArgumentError(
      `It must be a run and a folder, such as prove=reports/latest-prove; the runs are ${stepNames.join(', ')}.`,
    );
  }
  return { step, folder: resolve(callerDir, rest.join('=')) };
}
