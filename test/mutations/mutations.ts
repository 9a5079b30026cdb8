// npm run mutations: puts one small bug after the other into a copy of the sources, and asks whether the tests notice. With --generated the
// bugs are made from the syntax of the locks, and it asks whether the checks and the drills notice.

import { Command, InvalidArgumentError, Option } from 'commander';
import { countOf, formatDuration } from '../../loadtest/narration/numbers.ts';
import { stopOnSignal } from '../../scripts/command-line/ending.ts';
import { refusalOf } from '../../services/inventory/settings/unknown-name.ts';
import { projectDir } from '../../stack/parts.ts';
import { catalogue } from './catalogue.ts';
import { runGenerated } from './generated/generated.ts';
import { subjects } from './generated/subjects.ts';
import type { Mutation } from './mutation.ts';
import { type Outcome, type Tried, tryMutations, whyStale } from './try-mutations.ts';

const SURVIVED = 1;
const COULD_NOT_RUN = 2;

/** An estimate, not a measurement: at two to four seconds of CPU time for each they take a quarter of an hour at most on two cores. */
const SAMPLE = 400;

const { only, list, generated, lock, seed, sample } = new Command('npm run mutations --')
  .description(
    'Puts one small bug after the other into a copy of the sources, and asks whether the tests notice. Ends with 0 when all are caught, 1 when one survived, 2 when it can’t be said.',
  )
  .option('--only <names>', 'some of them, separated by commas (default: all)', named)
  .option('--list', 'tell them, and which are stale, and run no test')
  .addOption(
    new Option(
      '--generated',
      'bugs that are made from the syntax of the locks: 0 when the checks and drills catch all that a scene shows to be wrong, and no other',
    ).conflicts(['only', 'list']),
  )
  .addOption(new Option('--lock <name>', 'of those, the ones of one lock, all of them').choices(subjects))
  .addOption(new Option('--seed <number>', 'of those, others').argParser(counted).default(1))
  .addOption(new Option('--sample <number>', 'of those, so many at random').argParser(counted).default(SAMPLE))
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse()
  .opts<{
    only?: Mutation[];
    list?: boolean;
    generated?: boolean;
    lock?: string;
    seed: number;
    sample: number;
  }>();
const chosen = only ?? catalogue;

if (generated) process.exit(await judgeGenerated());
// The reaper clears up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(COULD_NOT_RUN));

process.exit(list ? tellList() : await run());

async function judgeGenerated(): Promise<number> {
  const { signal } = stopOnSignal(new Error('It was interrupted.'));
  const locks = lock === undefined ? subjects : [lock];
  const judged = await runGenerated({ locks, seed, sample: lock === undefined ? sample : Infinity }, signal);
  if (judged.some(({ is }) => is === 'missed' || is === 'accused')) return SURVIVED;
  return signal.aborted || judged.some(({ is }) => is === 'not judged') ? COULD_NOT_RUN : 0;
}

function tellList(): number {
  const all = chosen.map((mutation) => ({ ...mutation, stale: whyStale(projectDir, mutation) }));
  for (const { name, file, why, stale } of all)
    print(`${name}\n  ${file}: ${why}${stale ? `\n  Stale. ${stale}` : ''}`);
  return all.some(({ stale }) => stale !== undefined) ? COULD_NOT_RUN : 0;
}

async function run(): Promise<number> {
  const startedAt = performance.now();
  const width = Math.max(...chosen.map(({ name }) => name.length));
  let count = 0;
  print(`${countOf(chosen.length, 'mutation')}.`);
  try {
    const tried = await tryMutations(projectDir, chosen, ({ mutation, outcome, detail, ms }) => {
      count += 1;
      const time = formatDuration(ms).padStart(6);
      print(`[${count}/${chosen.length}] ${mutation.name.padEnd(width)} ${time} ${outcome.padEnd(8)} ${detail}`);
    });
    print(['', ...summary(tried), formatDuration(Math.round(performance.now() - startedAt))].join('\n'));
    return exitCodeOf(tried);
  } catch (error) {
    process.stderr.write(`The run could not be made: ${error instanceof Error ? error.message : error}.\n`);
    return COULD_NOT_RUN;
  }
}

function summary(tried: Tried[]): string[] {
  const words: Record<Outcome, string> = {
    caught: 'caught',
    survived: 'survived',
    stale: 'stale: the catalogue is to be brought up to date',
    'fails-anyway': 'with tests that fail without it',
    broken: 'with a test file that could not be run',
  };
  return Object.entries(words).flatMap(([outcome, word]) => {
    const those = tried.filter((each) => each.outcome === outcome);
    if (those.length === 0) return [];
    const names = outcome === 'caught' ? '' : `: ${those.map(({ mutation }) => mutation.name).join(', ')}`;
    return [`${those.length} of ${tried.length} ${word}${names}.`];
  });
}

function exitCodeOf(tried: Tried[]): number {
  if (tried.some(({ outcome }) => outcome === 'survived')) return SURVIVED;
  return tried.every(({ outcome }) => outcome === 'caught') ? 0 : COULD_NOT_RUN;
}

function print(line: string) {
  process.stdout.write(`${line}\n`);
}

/** Throws InvalidArgumentError. */
function counted(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 1 on.');
}

/** Throws InvalidArgumentError. */
function named(names: string): Mutation[] {
  return names.split(',').map((name) => {
    const mutation = catalogue.find((each) => each.name === name.trim());
    if (mutation !== undefined) return mutation;
    const names = catalogue.map((each) => each.name);
    throw new InvalidArgumentError(refusalOf(`There is no mutation ${name}`, name, names, 'one that --list tells'));
  });
}
