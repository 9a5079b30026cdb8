// Starts a Redis that fails over by itself: a primary with a replica and three Sentinels, or a Cluster whose masters have a replica each.
//
// The servers watch each other, and elect a replica when its primary has been silent for DEAD_AFTER_MS. A replica copies as a user of its
// own: what shuts that user out on a primary cuts the replication, and no client notices.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { clusterSlotOf } from '../locks/drivers/channels.ts';
import { stockKey } from '../services/inventory/servers/store.ts';
import { installLines } from './install-lines.ts';
import { type Part, retryOnTakenPort, startPart } from './parts.ts';
import { freePort } from './ports.ts';
import { installedRedis, untilSo } from './redis.ts';

/** How the Redis of a stack may stand. */
export const redisModes = ['single', 'replica', 'sentinel', 'cluster'] as const;
export type RedisMode = (typeof redisModes)[number];

/** How long a server may be silent before the others take it for dead, in milliseconds. */
const DEAD_AFTER_MS = 500;
/** How long the servers may take to know each other, in milliseconds. */
const MEET_LIMIT_MS = 20_000;
export const MASTER_NAME = 'lockstep';
const SLOTS = 16_384;
const MASTERS = 3;

/** The user that replicas copy as, on every server, and its password: all of them are on loopback. */
export const REPLICATION_USER = 'repl';
const asReplica = ['--masteruser', REPLICATION_USER, '--masterauth', REPLICATION_USER];
const forReplicas = ['--user', REPLICATION_USER, 'on', `>${REPLICATION_USER}`, '+psync', '+replconf', '+ping'];
const ofData = ['--save', '', '--repl-diskless-sync-delay', '0', ...asReplica, ...forReplicas];

/** A server of the set. */
export interface SetServer {
  /** What it is at the start, such as `primary` or `sentinel 2`. */
  name: string;
  port: number;
  url: string;
  part: Part;
  /** Starts it again, after it has ended, on the same port, with what it has kept. */
  startAgain(): Promise<Part>;
}

export interface RedisSet {
  mode: 'sentinel' | 'cluster';
  /** What clients connect to: it leads them to whichever server is the primary. */
  url: string;
  servers: SetServer[];
  /** The server that holds the stock and the lock of sku 001 at the start, and the one that takes its place; of a Cluster that may have none. */
  primary: SetServer;
  replica?: SetServer;
}

export interface SetOptions {
  dir: string;
  /** Where the primary, or the first master, listens; a free port when it is not given. */
  port?: number | undefined;
  /** Called with each part as soon as it runs: the caller ends it. */
  onPart(part: Part): unknown;
}

/** Why no server can be started, as a sentence; undefined when one can. */
export function whyNoRedisSet(mode: RedisMode): string | undefined {
  if (mode === 'single' || installedRedis() !== undefined) return undefined;
  return `There is no redis-server on the PATH, and --redis ${mode} needs it: ${installLines('redis')}.`;
}

interface ServerOptions {
  args: string[];
  /** What its configuration file has at first; the server may write to it. */
  config?: string;
}

async function startServer(name: string, { args, config = '' }: ServerOptions, { dir, port, onPart }: SetOptions) {
  if (port === undefined) return retryOnTakenPort(async () => startOn(await freePort()));
  return startOn(port);

  async function startOn(port: number): Promise<SetServer> {
    const home = join(dir, `redis-${port}`);
    mkdirSync(home, { recursive: true });
    const file = join(home, 'redis.conf');
    writeFileSync(file, config);
    const url = `redis://127.0.0.1:${port}`;
    const startAgain = () =>
      startPart({
        name: `redis ${name}`,
        command: installedRedis() ?? '',
        args: [file, '--port', String(port), '--bind', '127.0.0.1', '--dir', home, ...args],
        cwd: home,
        addresses: [{ port }],
        isReady: async (pid) => (await asked(url, 'INFO', 'server')).includes(`process_id:${pid}`),
      });
    const part = await startAgain();
    onPart(part);
    return { name, port, url, part, startAgain };
  }
}

/** Asks a server one thing. */
export async function asked(url: string, ...command: [string, ...string[]]): Promise<string> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    return JSON.stringify(await client.call(...command)).replaceAll('\\r\\n', '\n');
  } finally {
    client.disconnect();
  }
}

/** Starts a primary, a replica of it, and three Sentinels: two of them must agree that the primary is dead. */
export async function openSentinels(options: SetOptions): Promise<RedisSet & { replica: SetServer }> {
  const others = { ...options, port: undefined };
  const primary = await startServer('primary', { args: ofData }, options);
  const of = ['--replicaof', '127.0.0.1', String(primary.port)];
  const replica = await startServer('replica', { args: [...ofData, ...of] }, others);
  const config = [
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${primary.port} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${DEAD_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 2000`,
    '',
  ].join('\n');
  const sentinels = await Promise.all(
    [1, 2, 3].map((number) => startServer(`sentinel ${number}`, { args: ['--sentinel'], config }, others)),
  );
  await untilAll(sentinels, 'The Sentinels do not know each other and the replica.', async ({ url }) => {
    const known = await asked(url, 'INFO', 'sentinel');
    return /status=ok,address=[\d.:]+,slaves=1,sentinels=3/.test(known);
  });
  const url = `redis+sentinel://${addressesOf(sentinels)}/${MASTER_NAME}`;
  return { mode: 'sentinel', url, servers: [primary, replica, ...sentinels], primary, replica };
}

/** Starts three masters that share the slots, and a replica of each unless none are wanted. What they hold outlives a kill. */
export async function openCluster(options: SetOptions & { hasReplicas?: boolean }): Promise<RedisSet> {
  const kept = ['--appendonly', 'yes', '--appendfsync', 'no'];
  const timing = ['--cluster-node-timeout', String(DEAD_AFTER_MS), '--cluster-replica-validity-factor', '0'];
  const start = async (name: string, port?: number) => {
    const bus = String(await freePort());
    const ofCluster = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-announce-ip', '127.0.0.1'];
    const server = await startServer(
      name,
      { args: [...ofCluster, ...timing, ...kept, ...ofData] },
      { ...options, port },
    );
    return { ...server, bus };
  };
  const number = (index: number) => index + 1;
  const places = Array.from({ length: MASTERS }, (_, index) => index);
  const masters = await Promise.all(
    places.map((at) => start(`master ${number(at)}`, at === 0 ? options.port : undefined)),
  );
  const replicas =
    options.hasReplicas === false ? [] : await Promise.all(places.map((at) => start(`replica ${number(at)}`)));
  const servers = [...masters, ...replicas];
  const share = Math.ceil(SLOTS / MASTERS);
  for (const [index, { url }] of masters.entries()) {
    const last = Math.min((index + 1) * share, SLOTS) - 1;
    await asked(url, 'CLUSTER', 'SET-CONFIG-EPOCH', String(number(index)));
    await asked(url, 'CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last));
  }
  const [first, ...others] = servers as [(typeof servers)[number], ...typeof servers];
  for (const { port, bus } of others) await asked(first.url, 'CLUSTER', 'MEET', '127.0.0.1', String(port), bus);
  await untilAll(servers, 'The servers of the Cluster have not met.', async ({ url }) =>
    (await asked(url, 'CLUSTER', 'INFO')).includes(`cluster_known_nodes:${servers.length}`),
  );
  for (const [index, { url }] of replicas.entries()) {
    const id = JSON.parse(await asked(masters[index]?.url ?? '', 'CLUSTER', 'MYID'));
    await untilSo(
      () => asked(url, 'CLUSTER', 'REPLICATE', id).then(Boolean, () => false),
      'A replica of the Cluster does not know its master.',
    );
  }
  await untilAll(servers, 'The Cluster is not whole.', async ({ url }) =>
    (await asked(url, 'CLUSTER', 'INFO')).includes('cluster_state:ok'),
  );
  await untilAll(replicas, 'A replica has not copied its master.', async ({ url }) =>
    (await asked(url, 'INFO', 'replication')).includes('master_link_status:up'),
  );
  const owner = Math.floor(clusterSlotOf(stockKey('001')) / share);
  const replica = replicas[owner];
  return {
    mode: 'cluster',
    url: `redis+cluster://${addressesOf(masters)}`,
    servers,
    primary: masters[owner] as SetServer,
    ...(replica && { replica }),
  };
}

const addressesOf = (servers: SetServer[]) => servers.map(({ port }) => `127.0.0.1:${port}`).join(',');

async function untilAll(servers: SetServer[], otherwise: string, isSo: (server: SetServer) => Promise<boolean>) {
  for (const server of servers) await untilSo(() => isSo(server).catch(() => false), otherwise, MEET_LIMIT_MS);
}
