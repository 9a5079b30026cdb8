// Starts and stops the stack: Redis, two or more nodes, and nginx, as real processes.

import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { backendOf, replicasOf } from '../locks/index.ts';
import type { Backend } from '../locks/strategy.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { stopLimitMs } from '../services/inventory/settings/limits.ts';
import { redisUrl } from '../services/inventory/settings/setting-kinds.ts';
import { inventorySettings, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { serviceArgs } from './bundle.ts';
import { startNginx } from './nginx.ts';
import { all, type Breakable, createOwnParts } from './own-parts.ts';
import { makeTempDir, type PartError, retryOnTakenPort, startPart } from './parts.ts';
import { freePort, reachedAt } from './ports.ts';
import { type Link, openLink, openReplyLink } from './proxy/link.ts';
import { lackOfRedis, openRedis, openReplica, type RedisServer, startRedis, untilCopied } from './redis.ts';
import { openRedisSet, type RedisMode, type RedisSet } from './redis-set.ts';

/** How long a starting part may take for one reply, in milliseconds. */
const ASK_LIMIT_MS = 1_000;

/** How many masters vote for a lock: the number in the example on redis.io. */
export const MASTERS = 5;

export type Node = Stack['nodes'][number];

/** One of the independent Redis servers that vote for a lock. It loses its data on a restart. */
export interface Master {
  url: string;
  /** Absent if it comes from REDLOCK_URLS. */
  process?: Breakable;
}

/** True for a part that sells. */
export const isNode = ({ part }: PartError) => /^node-\d+$/.test(part);

export type Stack = Awaited<ReturnType<typeof startStack>>;

export interface NodePorts {
  port: number;
  labPort: number;
}

export interface Ports {
  /** The port of our own Redis. */
  redis: number;
  nginx: number;
  nodes: NodePorts[];
}

export interface StackOptions {
  /** The ports to listen on; free ports by default. */
  ports?: Ports | undefined;
  /** The number of nodes: two by default. */
  nodes?: number | undefined;
  /** The address that the nodes and nginx listen on: 127.0.0.1 by default, whatever the environment says. */
  host?: string | undefined;
  /** Settings for all nodes, which override the environment. */
  env?: NodeJS.ProcessEnv | undefined;
  /** The file that all nodes run; the inventory service by default. */
  service?: string | undefined;
  /** How many independent masters to start, unless REDLOCK_URLS gives them; 5 if the lock needs them, else none. */
  masters?: number | undefined;
  /** The topology of our own Redis (single). */
  redisMode?: RedisMode | undefined;
  /** Redis has a replica from the start, if it is ours and supports replication; by default if the lock waits for one. */
  hasReplica?: boolean | undefined;
  /** Each node reaches Redis through its own fault proxy, and our own Redis keeps its data across a restart. */
  forDrills?: boolean | undefined;
  /** The Redis proxies parse replies, for a viewer. */
  readsReplies?: boolean | undefined;
  /** nginx resends a request to another node if the first does not respond. */
  nginxSendsAgain?: boolean | undefined;
  /** Called with every line that a part prints. */
  onLine?: ((name: string, line: string) => void) | undefined;
}

const stopSettings = inventorySettings.pick({ WAIT_TIMEOUT_MS: true, DRAIN_MS: true });

/**
 *
 * How long a node in this environment may take to stop, in milliseconds: its sales end first. Undefined if a setting is
 * invalid, which the node reports itself.
 *
 */
export function stopLimitOf(env: NodeJS.ProcessEnv): number | undefined {
  const { data } = stopSettings.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  return data && stopLimitMs(data.WAIT_TIMEOUT_MS, data.DRAIN_MS);
}

/** Starts Redis, the nodes and nginx, and resolves when all of them respond. Leaves nothing behind if it rejects. */
export async function startStack({
  ports,
  nodes: nodeCount = 2,
  host = '127.0.0.1',
  env = {},
  service,
  masters: wanted,
  redisMode = 'single',
  hasReplica,
  forDrills = false,
  readsReplies = false,
  nginxSendsAgain,
  onLine,
}: StackOptions = {}) {
  loadEnvFile();
  const { REDIS_URL } = readSettingsOrExit(z.object({ REDIS_URL: redisUrl().optional() }), process.env);
  // Each node would refuse a bad value in its own words.
  const { LOCK_VERSION, REDLOCK_URLS } = readSettingsOrExit(inventorySettings, { ...process.env, ...env, HOST: host });
  const isReplicated = redisMode === 'replica' || (hasReplica ?? replicasOf(LOCK_VERSION) > 0);
  const masterCount = wanted ?? (backendOf(LOCK_VERSION) === 'masters' ? MASTERS : 0);
  const temp = makeTempDir();
  // A set of servers is there so that one of them may die: that is told, and no more.
  const parts = createOwnParts((sentence) => onLine?.('redis', sentence));
  const links: Link[] = [];

  /** The stack's Redis, and its servers if it has automatic failover. */
  async function openOwnRedis(): Promise<RedisServer & { redisSet?: RedisSet }> {
    const asked = { dir: temp.dir, port: ports?.redis };
    if (redisMode !== 'sentinel' && redisMode !== 'cluster')
      return openRedis(REDIS_URL, { ...asked, keepsData: forDrills });
    const redisSet = await openRedisSet(redisMode, { ...asked, onPart: (part) => parts.watch(part, true) });
    return { ...redisSet.primary, redisSet };
  }

  const stop = () =>
    parts.stopAll(async () => {
      for (const link of links) await link.close();
      temp.remove();
    });

  /** The fault proxy between a node and a server, in a stack for drills. */
  async function linkTo(url: string): Promise<Link | undefined> {
    // The link cannot see through TLS, and leads to one server.
    if (!forDrills || !/^(redis|mysql|zookeeper):/.test(url)) return undefined;
    const link = await (readsReplies && url.startsWith('redis:') ? openReplyLink : openLink)(url);
    links.push(link);
    return link;
  }

  /** The fault proxies between a node and MySQL and ZooKeeper, and the settings that point the node to them. */
  async function linksToBackends() {
    const { MYSQL_URL = '', ZOOKEEPER_URL = '' } = { ...process.env, ...env };
    const mysql = await linkTo(MYSQL_URL);
    // The client may take any of several servers: a link leads to each.
    const [hosts = '', ...folders] = ZOOKEEPER_URL.split('/');
    const links = await Promise.all(hosts.split(',').map((host) => linkTo(host && `zookeeper://${host}`)));
    const zookeeper = links.filter((link) => link !== undefined);
    const linked = [zookeeper.map(({ port }) => `127.0.0.1:${port}`).join(','), ...folders].join('/');
    return {
      backendLinks: { ...(mysql && { mysql: [mysql] }), ...(zookeeper.length > 0 && { zookeeper }) },
      settings: {
        ...(mysql && { MYSQL_URL: mysql.url }),
        ...(zookeeper.length > 0 && { ZOOKEEPER_URL: linked }),
      },
    };
  }

  async function startMaster(): Promise<Master> {
    const { url, part, startAgain } = await openRedis(undefined, { dir: temp.dir });
    return { url, ...(part && startAgain && { process: parts.breakable({ part, startAgain }) }) };
  }

  async function startNode(index: number, redisUrl: string, masters: Master[]) {
    const name = `node-${index + 1}`;
    const link = await linkTo(redisUrl);
    const masterLinks = await Promise.all(masters.map((master) => linkTo(master.url)));
    const masterUrls = masters.map((master, at) => masterLinks[at]?.url ?? master.url);
    const { backendLinks, settings } = await linksToBackends();
    const args = await serviceArgs({ ...process.env, ...env }, service);

    async function startOn({ port, labPort }: NodePorts) {
      const url = `http://${reachedAt(host)}:${port}`;
      const labUrl = `http://127.0.0.1:${labPort}`;
      const ask = (address: string) => fetch(address, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
      const nodeEnv: NodeJS.ProcessEnv = {
        // Nobody waits for it, unless somebody asks.
        DRAIN_MS: '0',
        ...process.env,
        ...env,
        ...settings,
        REDIS_URL: link?.url ?? redisUrl,
        ...(masters.length > 0 && { REDLOCK_URLS: masterUrls.join(',') }),
        PORT: String(port),
        HOST: host,
        NODE_NAME: name,
        LAB_PORT: String(labPort),
        LAB_HOST: '127.0.0.1',
      };
      const startProcess = () =>
        startPart({
          name,
          command: process.execPath,
          args,
          env: nodeEnv,
          addresses: [{ host, port }, { port: labPort }],
          stopLimitMs: stopLimitOf(nodeEnv),
          // The lab listener comes last.
          isReady: async (pid) =>
            ((await (await ask(`${labUrl}/state`)).json()) as { pid: number }).pid === pid &&
            (await ask(`${url}/readyz`)).ok,
          onLine: (line) => onLine?.(name, line),
        });
      return { url, labUrl, ...parts.breakable({ part: await startProcess(), startAgain: startProcess }) };
    }

    const given = ports?.nodes[index];
    const node = given
      ? await startOn(given)
      : await retryOnTakenPort(async () => startOn({ port: await freePort(host), labPort: await freePort() }));
    return {
      name,
      ...node,
      /** The proxy between the node and Redis, in a stack for drills. */
      ...(link && { link }),
      /** The proxies between the node and each master, in order. */
      masterLinks: masterLinks.filter((link) => link !== undefined),
      /** The proxies between the node and MySQL and ZooKeeper, in a stack for drills that has them. */
      backendLinks: backendLinks as Partial<Record<Backend, Link[]>>,
    };
  }

  /** Starts a replica of the Redis at `primaryUrl`. */
  async function startReplica(primaryUrl: string) {
    const dir = join(temp.dir, `replica-${randomUUID()}`);
    mkdirSync(dir);
    const { url, part } = await openReplica(primaryUrl, dir);
    parts.watch(part);
    return { url, stop: () => parts.stop(part) };
  }

  /** Starts an empty server whose wall clock can be set ahead: an embedded Valkey, whatever the rest of the stack uses. */
  async function startClockServer() {
    const { url, part } = await startRedis(undefined, { dir: temp.dir });
    parts.watch(part);
    /** Sets its wall clock ahead of the machine's, in milliseconds. */
    const setAhead = (aheadMs: number): void => part.send({ aheadMs });
    return { url, setAhead, stop: () => parts.stop(part) };
  }

  /**
   *
   * The replica that a lock waits for, which lives as long as the stack. Resolves with it once it is in sync, in a stack for
   * drills with the proxy between Redis and it.
   *
   */
  async function startLastingReplica(redis: RedisServer) {
    const line = await linkTo(redis.url);
    const { url } = await startReplica(line?.url ?? redis.url);
    await untilCopied({ primaryUrl: redis.url, replicaUrl: url });
    return { url, ...(line && { line }) };
  }

  try {
    const redis = await openOwnRedis();
    const { part, startAgain, redisSet } = redis;
    const redisProcess = part && startAgain && parts.breakable({ part, startAgain }, redisSet !== undefined);
    const lack = await lackOfRedis(redis.url, LOCK_VERSION);
    if (lack !== undefined) throw new Error(lack);
    const given = REDLOCK_URLS?.map((url): Master => ({ url }));
    const masters = given ?? (await all(Array.from({ length: masterCount }, startMaster)));
    const hasOne = isReplicated && redis.kind === 'native' && redisSet === undefined;
    const replica = hasOne ? await startLastingReplica(redis) : undefined;
    const startNodeAt = (_: unknown, index: number) => startNode(index, redisSet?.url ?? redis.url, masters);
    const nodes = await all(Array.from({ length: nodeCount }, startNodeAt));
    const nginx = await startNginx({
      port: ports?.nginx,
      host,
      nodes: nodes.map(({ url }) => new URL(url).host),
      dir: temp.dir,
      sendsAgain: nginxSendsAgain,
    });
    parts.watch(nginx.part);
    return {
      redis: redis as Pick<RedisServer, 'url' | 'kind'>,
      /** The servers of a Redis with automatic failover: `redis` is the initial primary. */
      ...(redisSet && { redisSet }),
      /** The Redis process, if it is ours. */
      ...(redisProcess && { redisProcess: redisProcess as Breakable }),
      /** Absent if this Redis does not support replication. */
      ...(redis.kind === 'native' && { startReplica }),
      startClockServer,
      /** The requested replica. Absent if this Redis does not support replication. */
      ...(replica && { replica }),
      masters,
      nginx,
      nodes,
      /** Resolves as soon as a part ends unexpectedly. */
      partDied: parts.partDied,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
