// Starts a Redis that fails over by itself: a primary with a replica and three Sentinels, or a Cluster whose masters have a replica each.
//
// The servers watch each other, and elect a replica when its primary has been silent for DEAD_AFTER_MS. A replica copies as a user of its
// own: what shuts that user out on a primary cuts the replication, and no client notices.

import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { stockKey } from '../services/inventory/servers/store.ts';
import { installLines } from './install-lines.ts';
import type { OwnServer } from './own-parts.ts';
import type { Part } from './parts.ts';
import { findOnPath } from './path.ts';
import { freePort } from './ports.ts';
import { installedRedis, type RedisServer, startRedis, untilSo } from './redis.ts';

/** The ways in which a stack can run its Redis. */
export const redisModes = ['single', 'replica', 'sentinel', 'cluster'] as const;
export type RedisMode = (typeof redisModes)[number];

/** How long a server may be silent before the others take it for dead, in milliseconds. */
const DEAD_AFTER_MS = 500;
/** How long the servers may take to know each other, in milliseconds. */
const MEET_LIMIT_MS = 20_000;
const MASTER_NAME = 'lockstep';
const MASTERS = 3;

/** The user that replicas copy as, on every server, and its password: all of them are on loopback. */
export const REPLICATION_USER = 'repl';
const asReplica = ['--masteruser', REPLICATION_USER, '--masterauth', REPLICATION_USER];
const forReplicas = ['--user', REPLICATION_USER, 'on', `>${REPLICATION_USER}`, '+psync', '+replconf', '+ping'];

/** A server of the set; its name is what it is at the start, such as `primary` or `sentinel 2`. */
export type SetServer = RedisServer & OwnServer & { name: string };

export type RedisSet = Awaited<ReturnType<typeof openRedisSet>>;

export interface SetOptions {
  dir: string;
  /** Where the primary, or the first master, listens; a free port when it is not given. */
  port?: number | undefined;
  /** Called with each part as soon as it runs: the caller ends it. */
  onPart(part: Part): unknown;
}

/** Why no server can be started, as a sentence; undefined when one can. */
export function whyNoRedisSet(mode: RedisMode): string | undefined {
  if (mode === 'single' || (installedRedis() && installedCli())) return undefined;
  return `There is no redis-server with redis-cli on the PATH, and --redis ${mode} needs both: ${installLines('redis')}.`;
}

export function openRedisSet(mode: 'sentinel' | 'cluster', options: SetOptions) {
  return mode === 'sentinel' ? openSentinels(options) : openCluster(options);
}

/** Starts a primary, a replica of it, and three Sentinels: two of them must agree that the primary is dead. */
export async function openSentinels(options: SetOptions) {
  const others = { ...options, port: undefined };
  const primary = await startServer('primary', ofData, options);
  const { hostname, port } = new URL(primary.url);
  const replica = await startServer('replica', [...ofData, '--replicaof', hostname, port], others);
  const config = [
    `sentinel monitor ${MASTER_NAME} ${hostname} ${port} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${DEAD_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 2000`,
  ];
  const names = ['sentinel 1', 'sentinel 2', 'sentinel 3'];
  const sentinels = await Promise.all(names.map((name) => startServer(name, ['--sentinel'], others, config)));
  await untilAll(sentinels, 'The Sentinels did not discover each other and the replica.', async ({ url }) => {
    const known = await asked(url, 'INFO', 'sentinel');
    return /status=ok,address=[\d.:]+,slaves=1,sentinels=3/.test(known);
  });
  return {
    isCluster: false,
    /** What it is made of. */
    parts: 'a primary, a replica and three Sentinels',
    /** What clients connect to: it leads them to whichever server is the primary. */
    url: `redis+sentinel://${hostsOf(sentinels).join(',')}/${MASTER_NAME}`,
    /** The command that shows which server is the primary. */
    howToSee: `redis-cli -u ${sentinels[0]?.url} sentinel get-master-addr-by-name ${MASTER_NAME}`,
    servers: [primary, replica, ...sentinels],
    /** The server that holds the stock and the lock of sku 001 at the start, and the one that takes its place, if there is one. */
    primary,
    replica,
  };
}

/** Starts masters that share the slots, with so many replicas each (default: 1). Their data survives a kill. */
export async function openCluster(options: SetOptions & { replicas?: number }) {
  const { replicas = 1 } = options;
  const others = { ...options, port: undefined };
  const places = Array.from({ length: MASTERS * (1 + replicas) }, (_, index) => index);
  const servers = await Promise.all(
    places.map(async (at) => {
      const ownBus = ['--cluster-port', String(await freePort())];
      const name = at < MASTERS ? `master ${at + 1}` : `replica ${at + 1 - MASTERS}`;
      return startServer(name, [...ofCluster, ...ownBus, ...ofData], at === 0 ? options : others);
    }),
  );
  // The first of them become the masters.
  const create = ['--cluster', 'create', ...hostsOf(servers), '--cluster-replicas', String(replicas), '--cluster-yes'];
  await promisify(execFile)(installedCli() ?? '', create);
  const isWhole = new RegExp(`role:master\nconnected_slaves:${replicas}|master_link_status:up`);
  await untilAll(servers, 'The Cluster did not become ready.', async ({ url }) => {
    const [state, replication] = [await asked(url, 'CLUSTER', 'INFO'), await asked(url, 'INFO', 'replication')];
    return state.includes('cluster_state:ok') && isWhole.test(replication);
  });
  const primary = await first(servers, ({ url }) => asked(url, 'GET', stockKey('001')).then(Boolean, () => false));
  const copies = `master_port:${new URL(primary?.url ?? '').port}`;
  const replica = await first(servers, async ({ url }) => (await asked(url, 'INFO', 'replication')).includes(copies));
  return {
    isCluster: true,
    parts: `a Cluster of ${MASTERS} masters with a replica each`,
    url: `redis+cluster://${hostsOf(servers).join(',')}`,
    howToSee: `redis-cli -u ${replica?.url} cluster nodes`,
    servers,
    primary: primary as SetServer,
    ...(replica && { replica }),
  };
}

const ofData = [...asReplica, ...forReplicas];
const ofCluster = [
  ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--appendonly', 'yes', '--appendfsync', 'no'],
  ...['--cluster-node-timeout', String(DEAD_AFTER_MS), '--cluster-replica-validity-factor', '0'],
];

/** `config`: what its configuration file has at first; the server may write to it. */
async function startServer(name: string, more: string[], options: SetOptions, config: string[] = []) {
  const dir = mkdtempSync(join(options.dir, 'redis-'));
  const file = join(dir, 'redis.conf');
  writeFileSync(file, [...config, ''].join('\n'));
  const server = await startRedis(installedRedis(), { dir, port: options.port, name: `redis ${name}`, file, more });
  options.onPart(server.part);
  return { ...server, name };
}

/** Asks a server one thing. */
export async function asked(url: string, ...command: [string, ...string[]]): Promise<string> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    return String(await client.call(...command)).replaceAll('\r\n', '\n');
  } finally {
    client.disconnect();
  }
}

const installedCli = () => findOnPath('redis-cli', 'valkey-cli');

const hostsOf = (servers: SetServer[]) => servers.map(({ url }) => new URL(url).host);

/** The first server of which it is so. */
async function first(servers: SetServer[], isSo: (server: SetServer) => Promise<boolean>) {
  for (const server of servers) if (await isSo(server)) return server;
  return undefined;
}

async function untilAll(servers: SetServer[], otherwise: string, isSo: (server: SetServer) => Promise<boolean>) {
  for (const server of servers) await untilSo(() => isSo(server).catch(() => false), otherwise, MEET_LIMIT_MS);
}
