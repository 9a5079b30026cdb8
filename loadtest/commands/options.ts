// The command lines of the commands that run drills.

import { type Command, Option, type OptionValues } from 'commander';
import { beyond, knownVersions, lockName, locks } from '../../locks/index.ts';
import { nameOfExternalLock } from '../../services/inventory/external-module.ts';
import type { Drill, DrillSettings } from '../harness/drill.ts';
import { readLibrary } from '../peers/peer.ts';
import { checkNames, isCheck } from '../staircase/contract.ts';
import { usualSettings } from '../virtual/play.ts';
import {
  inOrder,
  jsonOption,
  leaseLength,
  namesAmong,
  newCommand,
  reportsOption,
  runningOf,
  runningOptions,
  stageList,
  wholeNumber,
  wholeNumberFrom,
} from './command-line.ts';
import { drillsOf, rowsOf, storyRowsOf, type Track, trackNames } from './tracks.ts';

/** The loads of a story of all stages: what each stage loses shows in so many sales, and the story ends sooner. */
const SHORT_LOAD = { requests: 500, units: 250 };

/** Of a run on real servers, when nothing else is asked for. */
export const realSettings: DrillSettings = {
  requests: 2_000,
  connections: 100,
  stock: 5_000,
  units: 1_000,
  leaseMs: 1_000,
};

export interface RunSettings {
  track: Track;
  /** The rows to run, in their order. */
  stages: string[];
  /** The drills that were asked for; absent when none was named. */
  drills?: Drill[];
  settings: DrillSettings;
  /** A running stack to aim at, instead of stacks of our own. */
  running?: { url: string; labUrls: string[] };
  /** Play the cells in the virtual world, without a server. */
  isVirtual?: boolean;
  /** What is printed instead of the story of the run: the results as JSON, or their table as Markdown. */
  prints?: 'json' | 'markdown';
  reportsDir: string;
}

/**
 * Reads the command line of a run; `version` is the stage that LOCK_VERSION names. What is not allowed ends the process with
 * exit code 2 and one line.
 */
export function readRunOptions(name: string, description: string, argv: string[], version?: string): RunSettings {
  // It says what the other options may be.
  const track = trackIn(argv);
  const isOfLocks = track === 'locks';
  const isStory = name === 'npm start';
  const canBeVirtual = name === 'npm run staircase' && isOfLocks;
  const command = commandOfDrills(name, description, drillsOf(track))
    .addOption(new Option('--track <track>', 'which story').choices(trackNames).default('locks'))
    .option(
      '--stage <stages>',
      isOfLocks
        ? 'stages by number or name, such as 1,2 or 4-ttl or fenced (default: 0 to 8)'
        : `rows: ${rowsOf(track).join(', ')}`,
      isOfLocks ? stageList : (value: string) => namesAmong(rowsOf(track), value),
    )
    .option('--beyond', 'what is beyond stage 8 as well', false);
  for (const option of runningOptions) command.addOption(option);
  if (name === 'npm run staircase') command.addOption(markdownOption());
  if (canBeVirtual) command.option('--real', 'on real servers, in minutes, instead of the virtual world', false);
  const given = command.parse(argv).opts();
  const refuse = (line: string): never => command.error(`error: ${line}`);
  const isVirtual = canBeVirtual && !given.real && !given.url && !given.lab;
  const tellsAll = isStory && isOfLocks && !version && !given.stage && !given.drill;
  const usual = isVirtual ? usualSettings : { ...realSettings, ...(tellsAll && SHORT_LOAD) };
  const settings = drillSettings(given, usual, refuse);
  const running = runningOf(given, command);
  if (!isOfLocks && given.beyond) refuse('--beyond is of the track locks');
  if (!isOfLocks && given.url) refuse(`--url is of the track locks: the ${track} are broken on stacks of their own`);
  const lockStages = () => [
    ...(given.stage ?? stageFromEnvironment(version, refuse) ?? Object.keys(locks)),
    ...(given.beyond ? Object.keys(beyond) : []),
  ];
  return {
    track,
    stages: isOfLocks ? inOrder(lockStages()) : (given.stage ?? (isStory ? storyRowsOf(track) : rowsOf(track))),
    ...settings,
    isVirtual,
    ...(running && { running }),
  };
}

export interface GradeSettings extends Omit<RunSettings, 'track' | 'stages' | 'running'> {
  /** The modules, as they were named. */
  files: string[];
  /** Packages of npm, as they were named: `redlock@5`. */
  libraries: string[];
  /** The published locks in loadtest/peers as well. */
  allLibraries: boolean;
  /** Where to write the template, and do nothing else. */
  newFile?: string;
  /** The locks of the project that run along, to compare with. */
  baseline: string[];
  /** The checks of the contract to run. */
  checks: string[];
  /** How many states the search may take in each scope, if it was said; 0 leaves it out. */
  mostStates?: number;
}

/** Reads the command line of `npm run grade`. Ends the process as `readRunOptions` does. */
export function readGradeOptions(argv: string[]): GradeSettings {
  const name = 'npm run grade';
  const description = 'Puts a lock of your own through the contract and every drill, and writes a report.';
  const command = commandOfDrills(name, description, drillsOf('locks'), checkNames)
    .argument(
      '[locks...]',
      'modules that export createLock, such as ./my-lock.ts, or packages of npm, such as redlock@5',
    )
    .option('--new <file>', 'write a lock that works, to be changed, and do nothing else')
    .option('--libraries', 'the published locks in loadtest/peers as well', false)
    .option('--real', 'its drills on real servers, in minutes, instead of in virtual time', false)
    .option(
      '--baseline <stages>',
      'built-in locks that run as a baseline, by number or name, or none (default: 8 with --real)',
      baselineList,
    )
    .addOption(markdownOption())
    .option(
      '--states <n>',
      'how many states the search over every order of events may take in each scope, and a tenth of them with a third process; 0 leaves it out (default: as npm run prove)',
      wholeNumberFrom(0, 100_000_000),
    );
  const given = command.parse(argv).opts();
  const refuse = (line: string): never => command.error(`error: ${line}`);
  const isVirtual = !given.real;
  const settings = drillSettings(given, isVirtual ? usualSettings : realSettings, refuse);
  const libraries = command.args.filter((arg) => readLibrary(arg) !== undefined);
  const files = command.args.filter((arg) => !libraries.includes(arg));
  const names = files.map(nameOfExternalLock);
  const isNothingNamed = command.args.length === 0 && !given.libraries;
  const twice = names.find((name, index) => names.indexOf(name) < index);

  if (twice !== undefined) refuse(`two modules are named ${twice}: a row needs a name of its own`);
  if (given.new !== undefined && !isNothingNamed) refuse('--new grades nothing: name no module');
  if (given.new === undefined && isNothingNamed) {
    refuse('name a module, such as ./my-lock.ts, or a package, such as redlock@5, or give --libraries or --new');
  }
  if (given.markdown && !given.libraries) refuse('--markdown goes with --libraries');
  if (!isVirtual && libraries.length > 0) refuse('a package is graded in virtual time: leave --real out');
  return {
    files,
    libraries,
    allLibraries: given.libraries,
    ...(given.new !== undefined && { newFile: given.new }),
    // In virtual time nothing differs from run to run.
    baseline: given.baseline ?? (isVirtual ? [] : stageList('8')),
    checks: given.drill?.filter(isCheck) ?? checkNames,
    ...(given.states !== undefined && { mostStates: given.states }),
    isVirtual,
    ...settings,
  };
}

/** The track that a command line names: what its other options may be depends on it. */
function trackIn(argv: string[]): Track {
  const at = argv.indexOf('--track');
  const given = at === -1 ? argv.find((arg) => arg.startsWith('--track='))?.slice('--track='.length) : argv[at + 1];
  return trackNames.find((name) => name === given) ?? 'locks';
}

const markdownOption = () =>
  new Option('--markdown', 'print the table as Markdown and nothing else').conflicts('json').default(false);

/** A command that runs drills, with the options that all of them have. */
function commandOfDrills(name: string, description: string, drills: Drill[], checks: string[] = []): Command {
  const names = [...drills.map(({ name }) => name), ...checks];
  return newCommand(name, description)
    .option('--drill <drills>', `drills: ${names.join(', ')}`, (value) => namesAmong(names, value))
    .option('--lease <ms>', 'the lease of the drills that go step by step, in milliseconds', leaseLength)
    .option('--requests <n>', 'sales of a rush', wholeNumber)
    .option('--connections <n>', 'buyers at the same time', wholeNumber)
    .option('--stock <n>', 'units in stock before a rush', wholeNumber)
    .option('--units <n>', 'units of a sell-out; twice as many buyers come', wholeNumber)
    .addOption(jsonOption())
    .addOption(reportsOption());
}

/** What those options say. What does not fit together is refused. */
function drillSettings(given: OptionValues, usual: DrillSettings, refuse: (line: string) => never) {
  const { requests, connections, stock, units } = { ...usual, ...given };
  const all = drillsOf(given.track ?? 'locks');
  const chosen: Drill[] = given.drill ? all.filter(({ name }) => given.drill.includes(name)) : all;
  const hasRush = chosen.some(({ kind, name }) => kind === 'load' && name !== 'sell-out');
  const hasSellOut = chosen.some(({ name }) => name === 'sell-out');
  if (hasRush && stock < requests) {
    refuse(`--stock ${stock} is too low: a rush needs stock for all ${requests} requests`);
  }
  if (hasRush && connections > requests) refuse(`--connections ${connections} is too many for --requests ${requests}`);
  if (hasSellOut && connections > 2 * units) {
    refuse(`--connections ${connections} is too many for the ${2 * units} buyers of a sell-out`);
  }
  return {
    ...(given.drill && { drills: chosen }),
    settings: { requests, connections, stock, units, leaseMs: (given.lease as number | undefined) ?? usual.leaseMs },
    ...(given.json && { prints: 'json' as const }),
    ...(given.markdown && { prints: 'markdown' as const }),
    reportsDir: given.reports as string,
  };
}

function stageFromEnvironment(version: string | undefined, refuse: (line: string) => never): string[] | undefined {
  if (!version) return undefined;
  const name = lockName(version);
  return name === undefined ? refuse(`LOCK_VERSION=${version} is not allowed: it must be ${knownVersions}.`) : [name];
}

function baselineList(value: string): string[] {
  return value === 'none' ? [] : stageList(value);
}
