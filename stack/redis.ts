// Opens the Redis of a run: the one at REDIS_URL, a server from the PATH, or the embedded Valkey.

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { commandsOfLocks } from '../locks/index.ts';
import { connectRedis, mastersOf, onServer } from '../services/inventory/servers/redis-client.ts';
import { lacksOf } from '../services/inventory/servers/redis-commands.ts';
import { bundledArgs } from './bundle.ts';
import type { OwnServer } from './own-parts.ts';
import { type Part, projectDir, retryOnTakenPort, startPart } from './parts.ts';
import { findOnPath } from './path.ts';
import { freePort } from './ports.ts';

/** How long a replica may take to copy what there is, in milliseconds, and how often it is asked. */
const COPY_LIMIT_MS = 5_000;
const COPY_POLL_MS = 10;
/**
 * How long a server of ours may take to end, in milliseconds. Redis refuses to while it writes its first AOF, and waits for replicas
 * that are behind; what it has written outlives a kill.
 */
const STOP_LIMIT_MS = 1_000;
/** How long a given Redis may take to answer, in milliseconds. */
const GIVEN_LIMIT_MS = 2_000;
/**
 * The first with CLIENT INFO: a node names its last connection by it, and has it ended after an outage. A Valkey says
 * in INFO which Redis it works like.
 */
export const LEAST_REDIS = '6.2';

export interface RedisServer {
  url: string;
  /** `external` was given as REDIS_URL, `native` is a server from the PATH, `embedded` is Valkey in WebAssembly. */
  kind: 'external' | 'native' | 'embedded';
  /** The process, when it is ours. */
  part?: Part;
  /** Starts the process again, after it has ended, on the same port. Absent when it is not ours. */
  startAgain?: () => Promise<Part>;
}

export interface RedisOptions {
  /** Where a server of our own works. */
  dir: string;
  /** Keep the data over a restart. The embedded Valkey can't. */
  keepsData?: boolean | undefined;
  /** Where a server of our own listens; a free port when it is not given. */
  port?: number | undefined;
}

export interface ServerOptions extends RedisOptions {
  name?: string;
  /** Its configuration file, and arguments besides ours. */
  file?: string;
  more?: string[];
}

/**
 * The Redis to use: REDIS_URL if it is given, else a new server from the PATH, else a new embedded one. Rejects with one
 * sentence when the given one does not answer, or when the server is too old.
 */
export async function openRedis(givenUrl: string | undefined, options: RedisOptions): Promise<RedisServer> {
  if (givenUrl !== undefined) {
    for (const version of await versionsAt(givenUrl)) refuseOldRedis('the Redis at REDIS_URL', version);
    return { url: givenUrl, kind: 'external' };
  }
  const program = installedRedis();
  if (program !== undefined) refuseOldRedis(program, redisVersionOf(program));
  return startRedis(program, options);
}

/** The server on the PATH. Undefined if there is none: then the embedded Valkey is used. */
export function installedRedis(): string | undefined {
  return findOnPath('redis-server', 'valkey-server');
}

/** Starts a replica of `primaryUrl` on a free port. Rejects when there is no server on the PATH. */
export async function openReplica(primaryUrl: string, dir: string) {
  const program = installedRedis();
  if (program === undefined) throw new Error('There is no redis-server on the PATH, and a replica needs it.');
  const { hostname, port } = new URL(primaryUrl);
  return startRedis(program, { dir, more: ['--replicaof', hostname, port] });
}

/**
 * Resolves when the replica holds all that its primary does, and hears what is written from then on. Rejects with one sentence when it
 * does not in time.
 */
export async function untilCopied({ primaryUrl, replicaUrl }: { primaryUrl: string; replicaUrl: string }) {
  const [primary, replica] = [new Redis(primaryUrl), new Redis(replicaUrl)];
  for (const client of [primary, replica]) client.on('error', () => {});
  const until = (isSo: () => Promise<boolean>) => untilSo(isSo, 'The replica did not get in sync with Redis.');
  try {
    await until(async () => /master_link_status:up/.test(await replica.info('replication')));
    // Up to a second may pass from there until the first command reaches it. This one is not part of what it has copied.
    const mark = `copied:${randomUUID()}`;
    await primary.set(mark, 1, 'PX', COPY_LIMIT_MS);
    await until(async () => (await replica.exists(mark)) === 1);
    await primary.del(mark);
  } finally {
    primary.disconnect();
    replica.disconnect();
  }
}

/** Polls until `isSo` resolves with true. Rejects with the sentence after the limit. */
export async function untilSo(isSo: () => Promise<boolean>, otherwise: string, limitMs = COPY_LIMIT_MS) {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(otherwise);
    await sleep(COPY_POLL_MS);
  }
}

/** Starts a server of this program; the embedded one without any, whose part takes a message `{ aheadMs }`: its wall clock is set ahead. */
export async function startRedis(
  program: string | undefined,
  options: ServerOptions,
): Promise<RedisServer & OwnServer> {
  const kind = program === undefined ? ('embedded' as const) : ('native' as const);
  const { port: given } = options;
  if (given !== undefined) return startThere(given);
  return retryOnTakenPort(async () => startThere(await freePort()));

  async function startThere(port: number) {
    const startAgain = () => startOn(port, program, options);
    return { url: `redis://127.0.0.1:${port}`, kind, part: await startAgain(), startAgain };
  }
}

const readyLine = /Ready to accept connections|Sentinel (new )?ID is|The embedded Valkey listens/;

async function startOn(port: number, program: string | undefined, options: ServerOptions) {
  let isReady = false;
  return startPart({
    name: options.name ?? 'redis',
    ...(program === undefined
      ? {
          command: process.execPath,
          args: [...(await bundledArgs('stack/embedded-valkey.ts')), String(port)],
          onMessage() {},
        }
      : { command: program, args: serverArgs(port, options) }),
    cwd: options.dir,
    addresses: [{ port }],
    onLine: (line) => {
      isReady ||= readyLine.test(line);
    },
    isReady: async () => isReady,
    stopLimitMs: STOP_LIMIT_MS,
  });
}

/** Only on loopback. What is kept is written before a command is answered, so a killed server loses nothing of it. */
function serverArgs(port: number, { dir, keepsData = false, file, more = [] }: ServerOptions) {
  const kept = keepsData ? ['--appendonly', 'yes', '--appendfsync', 'no'] : ['--appendonly', 'no'];
  // A replica gets its copy at once, rather than five seconds after it asked.
  const copied = ['--repl-diskless-sync-delay', '0'];
  const always = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir, ...kept, ...copied];
  return [...(file === undefined ? [] : [file]), ...always, ...more];
}

/** Makes Redis know every script of ours, so that each call of one is a single command. */
export async function loadScripts(url: string) {
  const redis = connectRedis(url, {});
  const dir = join(projectDir, 'lua');
  const scripts = readdirSync(dir).map((file) => readFileSync(join(dir, file), 'utf8'));
  try {
    // A Cluster must be there before it can be asked which servers it has.
    await redis.ping();
    for (const server of mastersOf(redis)) {
      for (const script of scripts) await server.script('LOAD', script);
    }
  } finally {
    redis.disconnect();
  }
}

/** Resolves with the reason why the Redis at `url` can't run this lock (it lacks commands), as a sentence. Undefined when it can. */
export async function lackOfRedis(url: string, lock: string): Promise<string | undefined> {
  if (commandsOfLocks[lock] === undefined) return undefined;
  const redis = connectRedis(url, {});
  try {
    await redis.ping();
    return (await lacksOf(redis, commandsOfLocks))[lock];
  } finally {
    redis.disconnect();
  }
}

/** The version of a Redis on the PATH, such as `7.0.15`; undefined for a Valkey, whose numbers mean something else. */
export function redisVersionOf(program: string): string | undefined {
  return /^Redis server v=([\d.]+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1];
}

/** Throws a sentence when the server's version is too old. A server without a version passes. */
export function refuseOldRedis(server: string, version: string | undefined) {
  if (version === undefined || isAtLeast(version, LEAST_REDIS)) return;
  throw new Error(`${server} is version ${version}, but the lab needs Redis ${LEAST_REDIS} or newer, or Valkey`);
}

/** Versions such as `20.19` and `20.19.4`, compared number by number. */
export const isAtLeast = (version: string, least: string) => version.localeCompare(least, 'en', { numeric: true }) >= 0;

/** The versions of the servers at `url`. Rejects with one sentence when no Redis answers there. */
async function versionsAt(url: string): Promise<(string | undefined)[]> {
  const redis = connectRedis(url, {
    // An old server knows no other.
    protocol: 2,
    lazyConnect: true,
    connectTimeout: GIVEN_LIMIT_MS,
    socketTimeout: GIVEN_LIMIT_MS,
    retryStrategy: () => null,
  });
  let lastError = 'it was not ready in time';
  let isPartOfCluster = false;
  const versions: (string | undefined)[] = [];
  function keep({ message }: Error) {
    // That it is closed says nothing of why.
    if (message !== 'Connection is closed.') lastError = message;
  }
  redis.on('error', (error: Error & { lastNodeError?: Error }) => keep(error.lastNodeError ?? error));
  onServer(redis, (server) => server.on('error', keep));
  try {
    await redis.connect();
    for (const server of mastersOf(redis)) {
      versions.push(/^redis_version:([\d.]+)/m.exec(await server.info('server'))?.[1]);
    }
    isPartOfCluster = redis instanceof Redis && /cluster_enabled:1/.test(await redis.info('cluster'));
  } catch {
    throw new Error(`the Redis at REDIS_URL does not reply: ${lastError}`);
  } finally {
    redis.disconnect();
  }
  if (isPartOfCluster)
    throw new Error('the Redis at REDIS_URL is a server of a Cluster: write redis+cluster://host:port');
  return versions;
}
