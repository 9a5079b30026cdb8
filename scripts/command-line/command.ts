// The commands' options, how each is parsed, and what happens with an invalid command line.

import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { shortNameOf } from '../../loadtest/staircase/staircase.ts';
import type { OwnServers } from '../../loadtest/worlds/real/targets.ts';
import { knownVersions, lockName, strategies } from '../../locks/index.ts';
import { refusalOf } from '../../services/inventory/settings/unknown-name.ts';
import { callOf } from '../../stack/call-of.ts';
import { isInstalled, projectDir } from '../../stack/parts.ts';
import { redisModes, whyNoRedisSet } from '../../stack/redis-set.ts';
import { MOST_NODES } from '../../stack/usual-ports.ts';
import { whyNoZookeeper } from '../../stack/zookeeper.ts';
import commands from '../commands.json' with { type: 'json' };
import { AS_EXPECTED, COULD_NOT_RUN } from './ending.ts';

export type CommandName = keyof typeof commands;

/** The folder the user is in: npm runs its scripts in the project's folder, but paths are relative to this one. */
export const callerDir = process.env['INIT_CWD'] || process.cwd();
/** An installed package writes nothing into its own folder. */
export const reportsDir = join(isInstalled ? callerDir : projectDir, 'reports');

/** The shortest lease within which a drill can still place a step, in milliseconds. */
const SHORTEST_LEASE_MS = 100;
const MOST_WAITERS = 10_000;

/** An option's flags, help text, parser (default: as is) and default value. */
type Row<Value> = [flags: string, help: string, read?: (value: string) => Value, usual?: Value];
const row = <Value = string>(...given: Row<Value>) => given;
const flag = (name: string, help: string) => row<true>(name, help);
const wholeNumber = wholeNumberFrom(1, 1_000_000);

/** Every option of the commands that run something, unless a command overrides it. */
const options = {
  stage: row('--stage <stages>', 'stages or strategies, by number or name, such as 1,2 or 4-ttl or fenced'),
  beyond: flag('--beyond', 'include the strategies beyond stage 8'),
  track: row('--track <track>', 'which track: locks or orders (locks)', oneOf('locks', 'orders')),
  drill: row('--drill <drills>', 'drills, such as rush,crashed-holder', list),
  lease: row('--lease <ms>', 'lease length of step-by-step drills, in milliseconds', leaseLength),
  requests: row('--requests <n>', 'sales per rush', wholeNumber),
  connections: row('--connections <n>', 'concurrent buyers', wholeNumber),
  stock: row('--stock <n>', 'units in stock before a rush', wholeNumber),
  units: row('--units <n>', 'units in stock before a sell-out; twice as many buyers order', wholeNumber),
  url: row('--url <url>', 'run on a running stack: the address of its load balancer', webAddress),
  lab: row(
    '--lab <urls>',
    'the admin API of each of its nodes, such as http://127.0.0.1:7778,http://127.0.0.1:8889',
    webAddresses,
  ),
  nodes: row('--nodes <n>', 'number of nodes in drills under load (2)', wholeNumberFrom(2, MOST_NODES)),
  real: flag('--real', 'run on real servers (minutes) instead of in simulated time'),
  redis: row(
    '--redis <mode>',
    'which Redis to start: single, replica, sentinel or cluster (single)',
    oneOf(...redisModes),
  ),
  zookeeper: row('--zookeeper <n>', 'number of ZooKeeper servers: 1 or 3 (1)', oneOf('1', '3')),
  pause: flag('--pause', 'wait for Enter before each step that can wait'),
  save: row(
    '--save [file]',
    'save the run as a page that plays without a server: to this file, or one page per stage in reports/',
  ),
  sentences: flag('--sentences', 'list the sentences that a scenario may have, and exit'),
  new: row('--new <file>', 'write a working lock to start from, and exit'),
  lock: row('--lock <name>', 'only this lock of a package that has several, such as redis-semaphore-redlock'),
  libraries: flag('--libraries', 'include the published locks in loadtest/peers'),
  baseline: row('--baseline <stages>', 'built-in locks to run as a baseline, or none (default: 8 with --real)'),
  scope: row('--scope <scopes>', 'fault models, such as client-gone,crashed-holder', list),
  processes: row('--processes <n>', 'number of processes (2 and 3)', wholeNumberFrom(2, 4)),
  sales: row('--sales <n>', 'sales per process, one after the other (1)', wholeNumberFrom(1, 3)),
  pauses: row('--pauses <n>', 'number of pauses, in fault models that have them', wholeNumberFrom(0, 3)),
  delays: row('--delays <n>', 'number of delayed commands, in fault models that have them', wholeNumberFrom(0, 3)),
  crashes: row('--crashes <n>', 'number of crashes, in fault models that have them', wholeNumberFrom(0, 3)),
  deep: flag('--deep', '3 processes × 2 sales; takes minutes'),
  states: row('--states <n>', 'state limit per cell, beyond which it is unknown', wholeNumberFrom(1, 100_000_000)),
  require: row('--require <part>', 'exit with 2 unless the model checker finished every fault model', oneOf('search')),
  only: row('--only <names>', 'what to measure (all)', list),
  rounds: row('--rounds <n>', 'number of measurements of each', wholeNumber, 3),
  seconds: row('--seconds <s>', 'duration, in seconds', wholeNumber),
  waiters: row(
    '--waiters <list>',
    'waiters in each of two processes; with --http and --orders: connections',
    numbersFrom(1, MOST_WAITERS),
    [10, 100, 1_000],
  ),
  nodeCounts: row(
    '--nodes <list>',
    'with --http and --grow: numbers of nodes, such as 2,4,8 (2)',
    numbersFrom(2, MOST_NODES),
  ),
  http: flag('--http', 'measure sales through nginx, instead of the locks alone'),
  grow: flag('--grow', 'measure sales with 10 to 1,000 connections and 2, 4 and 8 nodes, with a chart'),
  orders: flag('--orders', 'measure sales that write an order, and sales without one to compare'),
  spinners: row<boolean>('--no-spinners', 'let the CPUs sleep between round trips'),
  json: flag('--json', 'print the results as JSON and nothing else'),
  markdown: flag('--markdown', 'print the table as Markdown and nothing else'),
  reports: row('--reports <folder>', 'output folder of the reports', String, reportsDir),
  lang: row('--lang <language>', 'language of the output: en or zh (default: that of LC_ALL, LC_MESSAGES or LANG)'),
};
export type OptionName = keyof typeof options;

/** The parsed options: an option that is not given and has no default is absent. */
export type Given = {
  [Name in OptionName]?: (typeof options)[Name] extends Row<infer Value> ? Value : never;
} & { reports: string };

/** The parsed options of a command in which some have a default. */
export type GivenWith<Usual extends OptionName> = Given & Required<Pick<Given, Usual>>;

/** A command's overrides for an option: its help text, parser and default. */
type Own = {
  [Name in OptionName]?: {
    help?: string;
    read?: (value: string) => NonNullable<Given[Name]>;
    usual?: NonNullable<Given[Name]>;
  };
};

/** Creates a command with these options. An invalid command line ends the process with exit code 2 and one line. */
export function newCommand(name: CommandName, names: OptionName[] = [], own: Own = {}): Command {
  const command = new Command(isInstalled ? callOf(name) : `${callOf(name)} --`)
    .description(commands[name])
    .allowExcessArguments(false)
    .configureOutput({ outputError: (text, write) => write(withoutAddress(text)) })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? AS_EXPECTED : COULD_NOT_RUN));
  for (const name of names) {
    const [flags, ...common] = options[name] as Row<unknown>;
    const { help = common[0], read = common[1], usual = common[2] } = own[name] ?? {};
    const option = new Option(flags, help);
    if (read) option.argParser(read);
    command.addOption(usual === undefined ? option : option.default(usual));
  }
  return command;
}

/** An invalid address may contain a password anywhere. */
const withoutAddress = (text: string) => text.replace(/('--(?:url|lab) <\w+>') argument '.*' (?=is invalid)/s, '$1 ');

/** The running stack named by --url and --lab, if any. */
export function runningOf({ url, lab }: Pick<Given, 'url' | 'lab'>, command: Command) {
  if (url !== undefined && lab !== undefined) return { url, labUrls: lab };
  return url === lab ? undefined : command.error('error: --url needs --lab, and --lab needs --url');
}

/** The topology of the servers to start. Ends the process if the settings name running servers, or none can be started. */
export function ownServersOf({ redis, zookeeper }: Pick<Given, 'redis' | 'zookeeper'>, command: Command): OwnServers {
  if (redis !== undefined) mustStart(`--redis ${redis}`, 'REDIS_URL', whyNoRedisSet(redis));
  if (zookeeper !== undefined) mustStart(`--zookeeper ${zookeeper}`, 'ZOOKEEPER_URL', whyNoZookeeper());
  return { redisMode: redis, zookeepers: zookeeper && Number(zookeeper) };

  function mustStart(option: string, setting: string, lack: string | undefined) {
    const isGiven = `${option} starts servers, but ${setting} names running ones: leave one out, as in ${setting}= ${callOf('start')}`;
    const why = process.env[setting] ? isGiven : lack;
    if (why !== undefined) command.error(`error: ${why}`);
  }
}

/** Ends the process for an unknown name: with the nearest names, or with the allowed ones. */
export function refuseName(command: Command, said: string, typed: string, names: string[], allowed?: string): never {
  return command.error(`error: ${refusalOf(said, typed, names, allowed)}`);
}

const lockNames = Object.keys(strategies);

/** The one named lock. Ends the process if the name is invalid. */
export const stageNamed = (value: string, command: Command, said = `--stage ${value}`) =>
  lockName(value.trim()) ??
  refuseName(command, `${said} is not allowed`, value, lockNames, `one lock: ${knownVersions}`);

/** The named locks. Ends the process if a name is invalid. */
export const stagesNamed = (value: string, command: Command, option = '--stage') =>
  rowsNamed(lockNames, value, command, knownVersions, option);

/** The rows in a comma-separated list, by number, name or short name. Ends the process if one is unknown. */
export function rowsNamed(rows: string[], value: string, command: Command, allowed: string, option = '--stage') {
  const named = list(value).flatMap((name) => {
    const found = rows.filter((row) => [row, shortNameOf(row)].includes(name) || shortNameOf(row) === lockName(name));
    if (found.length > 0) return found;
    return refuseName(command, `${option} ${name} is unknown`, name, [...rows, ...rows.map(shortNameOf)], allowed);
  });
  return rows.filter((row) => named.includes(row));
}

/** The given names, in their usual order; all if none was given. Ends the process if one is unknown. */
export function namesAmong(names: string[], given: string[] | undefined, command: Command, option: string): string[] {
  const odd = given?.find((name) => !names.includes(name));
  if (odd !== undefined) refuseName(command, `${option} ${odd} is unknown`, odd, names);
  return given ? names.filter((name) => given.includes(name)) : names;
}

// What follows reads one value, and throws InvalidArgumentError.

function list(value: string): string[] {
  return value.split(',').map((part) => part.trim());
}

function oneOf<Name extends string>(...names: Name[]) {
  return (value: string): Name => {
    const named = names.find((name) => name === value);
    if (named !== undefined) return named;
    throw new InvalidArgumentError(`It must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`);
  };
}

function leaseLength(value: string): number {
  const ms = wholeNumber(value);
  if (ms >= SHORTEST_LEASE_MS) return ms;
  throw new InvalidArgumentError(
    `It must be at least ${SHORTEST_LEASE_MS} ms, long enough for a step inside the lease.`,
  );
}

export function wholeNumberFrom(least: number, most: number) {
  return numberFrom(least, most, /^\d+$/, 'a whole number');
}

export function numberFrom(least: number, most: number, form = /^\d+(\.\d+)?$/, what = 'a number') {
  return (value: string): number => {
    const number = Number(value);
    if (form.test(value) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be ${what} from ${least} to ${most}.`);
  };
}

/** Comma-separated numbers, sorted. */
function numbersFrom(least: number, most: number) {
  return (value: string): number[] => {
    const numbers = list(value).map(wholeNumberFrom(least, most));
    return [...new Set(numbers)].sort((a, b) => a - b);
  };
}

/** An address with a user is refused: requests could not be sent with it, and the report would show the password. */
function webAddress(value: string): string {
  const address = URL.canParse(value) && /^https?:\/\//.test(value) ? new URL(value) : undefined;
  if (address && address.port !== '0' && address.username + address.password === '') return address.origin;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8080, without a user name.');
}

function webAddresses(value: string): string[] {
  const addresses = list(value).map(webAddress);
  if (addresses.length >= 2) return addresses;
  throw new InvalidArgumentError('It must be the addresses of all nodes, two or more, separated by commas.');
}
