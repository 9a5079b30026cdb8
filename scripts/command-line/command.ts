// The options of the commands, how each is read, and how a command line ends that is not allowed.

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

/** npm starts its scripts in the folder of the project, wherever it was called: files are named from there. */
export const callerDir = process.env['INIT_CWD'] || process.cwd();
/** Nothing is written into a package. */
export const reportsDir = join(isInstalled ? callerDir : projectDir, 'reports');

/** The shortest lease in which a step of a drill can still fall, in milliseconds. */
const SHORTEST_LEASE_MS = 100;
const MOST_WAITERS = 10_000;

/** What an option is called and takes, what it does, how its value is read (as it is), and what it is when it is not given. */
type Row<Value> = [flags: string, help: string, read?: (value: string) => Value, usual?: Value];
const row = <Value = string>(...given: Row<Value>) => given;
const flag = (name: string, help: string) => row<true>(name, help);
const wholeNumber = wholeNumberFrom(1, 1_000_000);

/** Every option of the commands that run something, as it is unless a command says otherwise. */
const options = {
  stage: row('--stage <stages>', 'stages, or rows, by number or name, such as 1,2 or 4-ttl or fenced'),
  beyond: flag('--beyond', 'what is beyond stage 8 as well'),
  track: row('--track <track>', 'which story: locks or orders (locks)', oneOf('locks', 'orders')),
  drill: row('--drill <drills>', 'drills, such as rush,crashed-holder', list),
  lease: row('--lease <ms>', 'the lease of the drills that go step by step, in milliseconds', leaseLength),
  requests: row('--requests <n>', 'sales of a rush', wholeNumber),
  connections: row('--connections <n>', 'buyers at the same time', wholeNumber),
  stock: row('--stock <n>', 'units in stock before a rush', wholeNumber),
  units: row('--units <n>', 'units of a sell-out; twice as many buyers come', wholeNumber),
  url: row('--url <url>', 'aim at a running stack: its load balancer', webAddress),
  lab: row('--lab <urls>', 'its lab listeners, such as http://127.0.0.1:7778,http://127.0.0.1:8889', webAddresses),
  nodes: row('--nodes <n>', 'how many nodes sell under load (2)', wholeNumberFrom(2, MOST_NODES)),
  real: flag('--real', 'on real servers, in minutes, instead of in virtual time'),
  redis: row(
    '--redis <mode>',
    'a Redis of its own: single, replica, sentinel or cluster (single)',
    oneOf(...redisModes),
  ),
  zookeeper: row('--zookeeper <n>', 'how many servers ZooKeeper has: 1 or 3 (1)', oneOf('1', '3')),
  pause: flag('--pause', 'wait for Enter at each step that can wait'),
  save: row('--save [file]', 'keep the run as a page that plays without a server: here, or one a stage in reports/'),
  new: row('--new <file>', 'write a lock that works, to be changed, and do nothing else'),
  lock: row('--lock <name>', 'of a package that has several locks this one alone, such as redis-semaphore-redlock'),
  libraries: flag('--libraries', 'the published locks in loadtest/peers as well'),
  baseline: row('--baseline <stages>', 'built-in locks that run as a baseline, or none (default: 8 with --real)'),
  scope: row('--scope <scopes>', 'what may go wrong', list),
  processes: row('--processes <n>', 'how many processes (2 and 3)', wholeNumberFrom(2, 4)),
  sales: row('--sales <n>', 'how many sales each makes, one after the other (1)', wholeNumberFrom(1, 3)),
  pauses: row('--pauses <n>', 'how many pauses, in scopes that have them', wholeNumberFrom(0, 3)),
  delays: row('--delays <n>', 'how many commands are held up, in scopes that have them', wholeNumberFrom(0, 3)),
  crashes: row('--crashes <n>', 'how many crashes, in scopes that have them', wholeNumberFrom(0, 3)),
  deep: flag('--deep', '3 processes × 2 sales, which takes minutes'),
  states: row(
    '--states <n>',
    'how many states each cell may take before it is unknown',
    wholeNumberFrom(1, 100_000_000),
  ),
  require: row('--require <part>', 'exit with 2 unless every scope was searched to its end', oneOf('search')),
  only: row('--only <names>', 'what to measure (all)', list),
  rounds: row('--rounds <n>', 'how often each is measured', wholeNumber, 3),
  seconds: row('--seconds <s>', 'how long, in seconds', wholeNumber),
  waiters: row(
    '--waiters <list>',
    'waiters in each of two processes; with --http and --orders connections',
    numbersFrom(1, MOST_WAITERS),
    [10, 100, 1_000],
  ),
  nodeCounts: row(
    '--nodes <list>',
    'with --http and --grow: how many nodes sell, such as 2,4,8 (2)',
    numbersFrom(2, MOST_NODES),
  ),
  http: flag('--http', 'sales through nginx to nodes, instead of the locks alone'),
  grow: flag('--grow', 'sales as connections (10 to 1,000) and nodes (2, 4, 8) grow, with a picture'),
  orders: flag('--orders', 'sales with an order each, and without one to compare'),
  spinners: row<boolean>('--no-spinners', 'let the CPUs sleep between two round trips'),
  json: flag('--json', 'print the results as JSON and nothing else'),
  markdown: flag('--markdown', 'print the table as Markdown and nothing else'),
  reports: row('--reports <folder>', 'output folder of the reports', String, reportsDir),
  lang: row('--lang <language>', 'language of the output: en or zh (default: that of LC_ALL, LC_MESSAGES or LANG)'),
};
export type OptionName = keyof typeof options;

/** What a command line may say: what is not given and has no default is absent. */
export type Given = {
  [Name in OptionName]?: (typeof options)[Name] extends Row<infer Value> ? Value : never;
} & { reports: string };

/** What a command line says of options of which some have a default. */
export type GivenWith<Usual extends OptionName> = Given & Required<Pick<Given, Usual>>;

/** What a command says of its options: what each does here, how its value is read, and what it is when it is not given. */
type Own = {
  [Name in OptionName]?: {
    help?: string;
    read?: (value: string) => NonNullable<Given[Name]>;
    usual?: NonNullable<Given[Name]>;
  };
};

/** A command with these options. What is not allowed ends the process with exit code 2 and one line. */
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

/** What should be an address and is none may have a password anywhere. */
const withoutAddress = (text: string) => text.replace(/('--(?:url|lab) <\w+>') argument '.*' (?=is invalid)/s, '$1 ');

/** The running stack that is named, if one is. */
export function runningOf({ url, lab }: Pick<Given, 'url' | 'lab'>, command: Command) {
  if (url !== undefined && lab !== undefined) return { url, labUrls: lab };
  return url === lab ? undefined : command.error('error: --url and --lab go together');
}

/** How the servers are to stand that are started. Ends the process where such are given, or none can be started. */
export function ownServersOf({ redis, zookeeper }: Pick<Given, 'redis' | 'zookeeper'>, command: Command): OwnServers {
  if (redis !== undefined) mustStart(`--redis ${redis}`, 'REDIS_URL', whyNoRedisSet(redis));
  if (zookeeper !== undefined) mustStart(`--zookeeper ${zookeeper}`, 'ZOOKEEPER_URL', whyNoZookeeper());
  return { redisMode: redis, zookeepers: zookeeper && Number(zookeeper) };

  function mustStart(option: string, setting: string, lack: string | undefined) {
    const isGiven = `${option} starts servers, and ${setting} names others: leave one out, such as ${setting}= ${callOf('start')}`;
    const why = process.env[setting] ? isGiven : lack;
    if (why !== undefined) command.error(`error: ${why}`);
  }
}

/** Ends the process for a name that nothing has: with the nearest names, or with what it may be. */
export function refuseName(command: Command, said: string, typed: string, names: string[], allowed?: string): never {
  return command.error(`error: ${refusalOf(said, typed, names, allowed)}`);
}

const lockNames = Object.keys(strategies);

/** The one lock that is named. Ends the process as a command line does that is not allowed. */
export const stageNamed = (value: string, command: Command, said = `--stage ${value}`) =>
  lockName(value.trim()) ??
  refuseName(command, `${said} is not allowed`, value, lockNames, `one lock: ${knownVersions}`);

/** The locks that are named. Ends the process as a command line does that is not allowed. */
export const stagesNamed = (value: string, command: Command, option = '--stage') =>
  rowsNamed(lockNames, value, command, knownVersions, option);

/** Of these rows those that are named, with commas between them: by number, name or short name. Ends the process when one is not known. */
export function rowsNamed(rows: string[], value: string, command: Command, allowed: string, option = '--stage') {
  const named = list(value).flatMap((name) => {
    const found = rows.filter((row) => [row, shortNameOf(row)].includes(name) || shortNameOf(row) === lockName(name));
    if (found.length > 0) return found;
    return refuseName(command, `${option} ${name} is not known`, name, [...rows, ...rows.map(shortNameOf)], allowed);
  });
  return rows.filter((row) => named.includes(row));
}

/** Of these names those that were given, in their order; all when none was. Ends the process when one is not known. */
export function namesAmong(names: string[], given: string[] | undefined, command: Command, option: string): string[] {
  const odd = given?.find((name) => !names.includes(name));
  if (odd !== undefined) refuseName(command, `${option} ${odd} is not known`, odd, names);
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
  throw new InvalidArgumentError(`It must be at least ${SHORTEST_LEASE_MS} ms, so that a step can fall inside it.`);
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

/** Numbers with commas between them, in their order. */
function numbersFrom(least: number, most: number) {
  return (value: string): number[] => {
    const numbers = list(value).map(wholeNumberFrom(least, most));
    return [...new Set(numbers)].sort((a, b) => a - b);
  };
}

/** No request could be sent with a password, and the report would show it. */
function webAddress(value: string): string {
  const address = URL.canParse(value) && /^https?:\/\//.test(value) ? new URL(value) : undefined;
  if (address && address.port !== '0' && address.username + address.password === '') return address.origin;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8080, without a user.');
}

function webAddresses(value: string): string[] {
  const addresses = list(value).map(webAddress);
  if (addresses.length >= 2) return addresses;
  throw new InvalidArgumentError('It must be the addresses of all its nodes, two or more, with commas between them.');
}
