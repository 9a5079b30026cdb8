// The command lines of the commands that run drills.

import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Drill, DrillSettings } from '../../loadtest/harness/drill.ts';
import type { Language } from '../../loadtest/narration/language.ts';
import { readLibrary } from '../../loadtest/peers/peer.ts';
import { hanging } from '../../loadtest/report/terminal.ts';
import { drillsOf, type Flight, rowsOf, storyRowsOf, type Track, tracks } from '../../loadtest/run/tracks.ts';
import { pagesAside } from '../../loadtest/scenarios/index.ts';
import { readScenario } from '../../loadtest/scenarios/read.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { sentencesListed } from '../../loadtest/sentences/vocabulary.ts';
import { checkNames } from '../../loadtest/staircase/conformance.ts';
import { verdictExpected } from '../../loadtest/staircase/lookup.ts';
import { rowsWordOf, shortNameOf } from '../../loadtest/staircase/staircase.ts';
import type { OwnServers } from '../../loadtest/worlds/real/targets.ts';
import { usualSettings } from '../../loadtest/worlds/simulated/play.ts';
import { beyond, locks, strategies } from '../../locks/index.ts';
import { nameOfExternalLock } from '../../services/inventory/settings/external-module.ts';
import { callOf } from '../../stack/call-of.ts';
import {
  callerDir,
  type Given,
  type GivenWith,
  namesAmong,
  newCommand,
  type OptionName,
  ownServersOf,
  refuseName,
  reportsDir,
  rowsNamed,
  runningOf,
  stageNamed,
  stagesNamed,
  wholeNumberFrom,
} from './command.ts';
import { AS_EXPECTED } from './ending.ts';
import { languageOf } from './language.ts';

/** The loads of a run over all stages: enough sales to show what each stage loses, and a shorter run. */
const SHORT_LOAD = { requests: 500, units: 250 };

/** The default loads of a run on real servers. */
const realSettings: DrillSettings = { requests: 2_000, connections: 100, stock: 5_000, units: 1_000, leaseMs: 1_000 };

const LOADS: OptionName[] = ['drill', 'lease', 'requests', 'connections', 'stock', 'units', 'json', 'reports', 'lang'];

export interface RunSettings {
  settings: DrillSettings;
  /** A running stack to use, instead of starting stacks. */
  running?: { url: string; labUrls: string[] } | undefined;
  /** How many nodes our own stacks have in drills under load; two by default. */
  nodes?: number | undefined;
  servers?: OwnServers | undefined;
  /** Play the cells in simulated time, without servers. */
  isVirtual?: boolean;
  /** What is printed instead of the run's progress: the results as JSON, or their table as Markdown. */
  prints?: 'json' | 'markdown' | undefined;
  reports: string;
  language: Language;
}

/**
 * Reads the command line of a run; `version` is the stage that LOCK_VERSION names. An invalid command line ends the process with
 * exit code 2 and one line.
 */
export function readRunOptions(name: 'start' | 'staircase', argv: string[], version?: string) {
  const isStory = name === 'start';
  const own: OptionName[] = isStory ? [] : ['real', 'markdown'];
  const ofServers: OptionName[] = ['url', 'lab', 'nodes', 'redis', ...own];
  const command = newCommand(name, ['track', 'stage', 'beyond', ...ofServers, ...LOADS], {
    stage: {
      help: 'stages or strategies by number or name, such as 1,2 or 4-ttl or fenced (default: 0 to 8), or rows of the orders track',
    },
  })
    .addHelpText('after', `\nDrills of the locks track: ${drillNamesOf('locks')}`)
    .addHelpText('after', `Drills of the orders track: ${drillNamesOf('orders')}`)
    .addHelpText('after', `Rows of the orders track: ${listOfRows(rowsOf('orders'))}`);
  const given: Given = command.parse(argv).opts();
  const { track = 'locks', stage } = given;
  const isOfLocks = track === 'locks';
  const isVirtual = !isStory && isOfLocks && !given.real && !given.url && !given.lab;
  const tellsAll = isStory && isOfLocks && !version && stage === undefined && !given.drill;
  const usual = isVirtual ? usualSettings : { ...realSettings, ...(tellsAll && SHORT_LOAD) };
  const drills = chosenDrills(track, given, command);
  const running = runningOf(given, command);
  if (!isOfLocks && given.beyond) refuse(command, '--beyond needs --track locks');
  if (!isOfLocks && running)
    refuse(command, `--url needs --track locks: the drills of ${track} start their own stacks`);
  const whyNoNodes = given.nodes !== undefined && whyNotMoreNodes();
  if (whyNoNodes) refuse(command, `--nodes ${given.nodes}: ${whyNoNodes}`);
  if (given.redis && !isOfLocks)
    refuse(command, `--redis needs --track locks: the drills of ${track} use a single Redis`);
  if (given.redis && running) refuse(command, '--redis starts servers, but --url names running ones: leave one out');
  if (given.redis && isVirtual) refuse(command, '--redis needs --real: simulated time has no such servers');
  const servers = ownServersOf(given, command);
  const stages = isOfLocks ? stagesOfLocks() : stagesOfOrders();
  const asked = drillSettings(given, usual, drills ?? drillsOf(track), command);
  return { track, drills, running, nodes: given.nodes, servers, isVirtual, stages, ...asked };

  function whyNotMoreNodes() {
    if (!isOfLocks) return `the drills of ${track} use two nodes`;
    if (running) return '--lab already names the nodes of the running stack';
    if (isVirtual) return 'simulated time has two nodes: add --real';
    return drills?.every(({ kind }) => kind === 'steps') && 'step-by-step drills use two nodes';
  }

  function stagesOfLocks() {
    const one = version && stage === undefined && stageNamed(version, command, `LOCK_VERSION=${version}`);
    const named = one ? [one] : stage === undefined ? Object.keys(locks) : stagesNamed(stage, command);
    return Object.keys(strategies).filter((name) => named.includes(name) || (given.beyond && name in beyond));
  }

  function stagesOfOrders() {
    if (stage !== undefined) return rows(rowsOf(track), stage, command);
    return isStory ? storyRowsOf(track) : rowsOf(track);
  }
}

/** Reads the command line of `npm run grade`. Ends the process as `readRunOptions` does. */
export function readGradeOptions(argv: string[]) {
  const command = newCommand(
    'grade',
    ['new', 'lock', 'libraries', 'real', 'baseline', 'states', 'require', 'markdown', ...LOADS],
    {
      real: { help: 'run the drills on real servers (minutes) instead of in simulated time' },
      states: {
        help: 'state limit of the model checker per fault model, a tenth of it with a third process; 0 skips the model checker (default: as in prove)',
        read: wholeNumberFrom(0, 100_000_000),
      },
    },
  )
    .argument(
      '[locks...]',
      'modules that export createLock, such as ./my-lock.ts, or npm packages, such as redlock@5 or redislock@1',
    )
    .addHelpText('after', `\nDrills: ${drillNamesOf('locks')}`)
    .addHelpText('after', `Conformance checks: ${checkNames.join(', ')}`);
  const given: Given = command.parse(argv).opts();
  const isVirtual = !given.real;
  const drills = chosenDrills('locks', given, command, checkNames);
  const libraries = command.args.filter((arg) => readLibrary(arg) !== undefined);
  const files = command.args.filter((arg) => !libraries.includes(arg));
  const names = files.map(nameOfExternalLock);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) refuse(command, `two locks are called ${twice}`);
  const isNothingNamed = command.args.length === 0 && !given.libraries;
  if (given.new !== undefined && !isNothingNamed) refuse(command, '--new grades nothing: leave the modules out');
  if (given.new === undefined && isNothingNamed) {
    refuse(
      command,
      'name a module, such as ./my-lock.ts, or a package, such as redlock@5, or use --libraries or --new',
    );
  }
  if (given.lock !== undefined && libraries.length === 0) refuse(command, '--lock needs a package, such as redlock@5');
  if (given.markdown && !given.libraries) refuse(command, '--markdown needs --libraries');
  if (!isVirtual && libraries.length > 0) refuse(command, 'packages are graded in simulated time: leave --real out');
  // In virtual time nothing differs from run to run.
  const baseline = given.baseline ?? (isVirtual ? 'none' : '8');
  return {
    ...{ files, libraries, drills, isVirtual, lock: given.lock },
    allLibraries: given.libraries ?? false,
    newFile: given.new,
    baseline: baseline === 'none' ? [] : stagesNamed(baseline, command, '--baseline'),
    checks: checkNames.filter((name) => given.drill?.includes(name) ?? true),
    mostStates: given.states,
    isSearchRequired: given.require === 'search',
    ...drillSettings(given, isVirtual ? usualSettings : realSettings, drills ?? drillsOf('locks'), command),
  };
}

const flights: Flight[] = Object.values(tracks).flat();
const stepsOf = ({ drills }: Flight) => drills.filter(({ kind }) => kind === 'steps');

export type DrillCommand = ReturnType<typeof readDrillOptions>;

/**
 * Reads the command line of `npm run drill`: the drill, and the rows to run it under, in order. `fileFor` names the file that
 * saves the run under a row as a page; it is absent if nothing is saved. Ends the process like `readRunOptions`.
 */
export function readDrillOptions(argv: string[]) {
  const names = flights.map((flight) => stepsOf(flight).map(({ name }) => name));
  const [ofLocks = [], ...ofOrders] = names;
  const asideNames = pagesAside.map(({ name }) => name);
  const lists = [
    ['of a lock', ofLocks],
    ['of the orders', ofOrders.flat()],
    ['in no table', asideNames],
  ] as const;
  const stagesOfOrders = tracks.orders.map(({ staircase }) => Object.keys(staircase.rows).map(shortNameOf).join(', '));
  const command = newCommand(
    'drill',
    ['stage', 'lease', 'redis', 'zookeeper', 'pause', 'save', 'reports', 'sentences', 'lang'],
    { lease: { help: 'lease length, in milliseconds', usual: realSettings.leaseMs } },
  )
    .argument('[drill]', lists.map(([which, list]) => `${which}: ${list.join(', ')}`).join('; '))
    .on('option:sentences', () => {
      console.log(sentencesListed());
      process.exit(AS_EXPECTED);
    })
    .addHelpText('after', `\nStages of the drills of the orders track: ${stagesOfOrders.join('; or ')}`);
  const given = command.parse(argv).opts<GivenWith<'lease'>>();
  const { stage, lease, redis, zookeeper, pause, save, reports } = given;
  const [name = ''] = command.args;
  const aside = pagesAside.find((each) => each.name === name) ?? ownPage(name, command);
  const flight = aside ? flights[0] : flights.find((each) => stepsOf(each).some((drill) => drill.name === name));
  const drill = aside ?? flight?.drills.find((each) => each.name === name);
  if (name === '') {
    const drillLines = lists.map(([which, list]) => hanging(`  ${which}: `, list.join(', ')));
    return refuse(
      command,
      `name a drill, as in ${callOf('drill', 'crashed-holder --stage 3')}\n${drillLines.join('\n')}`,
    );
  }
  if (!flight || !drill)
    return refuseName(command, `there is no drill ${name}`, name, [...names.flat(), ...asideNames]);
  if (stage === undefined) {
    const { rows } = flight.staircase;
    const failing = Object.keys(rows).find((row) => verdictExpected(row, name) === 'fail') ?? '0-none';
    return refuse(
      command,
      `--stage is missing: name ${rowsWordOf(flight.staircase)}, as in --stage ${shortNameOf(failing)}`,
    );
  }
  const isOfLocks = flight === flights[0];
  const own = isOfLocks ? stagesNamed(stage, command) : rows(Object.keys(flight.staircase.rows), stage, command);
  if (save !== undefined && !isOfLocks) refuse(command, '--save needs a drill of the locks track');
  if (redis && !isOfLocks) refuse(command, '--redis needs a drill of the locks track');
  if (typeof save === 'string' && own.length > 1) {
    refuse(command, `${save} can hold only one run: name one stage, or leave the file out`);
  }
  return {
    ...{
      drill,
      rows: own,
      reports,
      isStepwise: pause ?? false,
      servers: ownServersOf({ redis, zookeeper }, command),
      language: languageOf(given, command),
    },
    settings: { ...realSettings, leaseMs: lease },
    ...(save !== undefined && { fileFor }),
  };

  function fileFor(row: string): string {
    return typeof save === 'string' ? resolve(callerDir, save) : join(reportsDir, `${row}.${aside?.name ?? name}.html`);
  }
}

/** A scenario file of the user's own, as a drill with the file's name. Undefined for the name of a built-in drill. */
function ownPage(file: string, command: Command): Drill | undefined {
  if (!file.endsWith('.txt')) return undefined;
  try {
    return { ...asDrill(readScenario(readFileSync(resolve(callerDir, file), 'utf8'))), name: basename(file, '.txt') };
  } catch (error) {
    return refuse(command, `${file}: ${(error as Error).message}`);
  }
}

function refuse(command: Command, line: string): never {
  return command.error(`error: ${line}`);
}

function rows(all: string[], value: string, command: Command): string[] {
  return rowsNamed(all, value, command, listOfRows(all));
}

/** The rows, and the meaning of their short names. */
function listOfRows(all: string[]): string {
  const short = all.map(shortNameOf).find((name) => !all.includes(name));
  return all.join(', ') + (short === undefined ? '' : `; a short name such as ${short} selects all rows of that name`);
}

const drillNamesOf = (track: Track) =>
  drillsOf(track)
    .map(({ name }) => name)
    .join(', ');

/** The named drills. Undefined if none is named. */
function chosenDrills(track: Track, { drill }: Given, command: Command, checks: string[] = []): Drill[] | undefined {
  const drills = drillsOf(track);
  const chosen = namesAmong([...drills.map(({ name }) => name), ...checks], drill, command, '--drill');
  return drill && drills.filter(({ name }) => chosen.includes(name));
}

/** The settings of the drills. Refuses combinations that can't work. */
function drillSettings(
  given: Given,
  usual: DrillSettings,
  drills: Drill[],
  command: Command,
): Pick<RunSettings, 'settings' | 'prints' | 'reports' | 'language'> {
  const { requests, connections, stock, units } = { ...usual, ...given };
  const hasRush = drills.some(({ kind, name }) => kind === 'load' && name !== 'sell-out');
  const hasSellOut = drills.some(({ name }) => name === 'sell-out');
  const tooMany = `--connections ${connections} is more than`;
  if (hasRush && stock < requests) {
    refuse(command, `--stock ${stock} is too low: a rush needs ${requests} units, one per request`);
  }
  if (hasRush && (given.nodes ?? 0) > requests)
    refuse(command, `--nodes ${given.nodes} is more than --requests ${requests}`);
  if (hasRush && connections > requests) refuse(command, `${tooMany} --requests ${requests}`);
  if (hasSellOut && connections > 2 * units) refuse(command, `${tooMany} the ${2 * units} buyers of a sell-out`);
  if (given.json && given.markdown) refuse(command, "--json and --markdown can't be combined");
  return {
    settings: { requests, connections, stock, units, leaseMs: given.lease ?? usual.leaseMs },
    prints: given.json ? 'json' : given.markdown ? 'markdown' : undefined,
    reports: given.reports,
    language: languageOf(given, command),
  };
}
