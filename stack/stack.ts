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

/** How long a part that starts may take to answer one question, in milliseconds. */
const ASK_LIMIT_MS = 1_000;

/** How many masters vote for a lock: the number that redis.io takes as its example. */
export const MASTERS = 5;

export type Node = Stack['nodes'][number];

/** One of the independent Redis servers that vote for a lock. It loses its data in a restart. */
export interface Master {
  url: string;
  /** Absent when REDLOCK_URLS gave it. */
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
  /** That of a Redis of our own. */
  redis: number;
  nginx: number;
  nodes: NodePorts[];
}

export interface StackOptions {
  /** Where to listen; free ports when it is not given. */
  ports?: Ports | undefined;
  /** How many nodes sell: two when it is not given. */
  nodes?: number | undefined;
  /** The address that the nodes and nginx listen on: 127.0.0.1 when it is not given, whatever the environment says. */
  host?: string | undefined;
  /** Settings for all nodes, over those of the environment. */
  env?: NodeJS.ProcessEnv | undefined;
  /** The file that all nodes run; the inventory service when it is not given. */
  service?: string | undefined;
  /** How many independent masters to start, unless REDLOCK_URLS gives them; 5 when the lock needs them, else none. */
  masters?: number | undefined;
  /** How a Redis of our own stands (single). */
  redisMode?: RedisMode | undefined;
  /** Redis has a replica from the start, if it is ours and knows replication; by default when the lock waits for one. */
  hasReplica?: boolean | undefined;
  /** Each node reaches Redis through a link of its own, and a Redis of our own keeps its data over a restart. */
  forDrills?: boolean | undefined;
  /** These links to Redis read what it replies, for somebody who watches. */
  readsReplies?: boolean | undefined;
  /** nginx sends a request again to another node when the first does not answer. */
  nginxSendsAgain?: boolean | undefined;
  /** Given every line that a part prints. */
  onLine?: ((name: string, line: string) => void) | undefined;
}

const stopSettings = inventorySettings.pick({ WAIT_TIMEOUT_MS: true, DRAIN_MS: true });

/**
 * How long a node with this environment may take to stop, in milliseconds: its sales end first. Undefined when a setting is
 * not allowed, which the node says itself.
 */
export function stopLimitOf(env: NodeJS.ProcessEnv): number | undefined {
  const { data } = stopSettings.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  return data && stopLimitMs(data.WAIT_TIMEOUT_MS, data.DRAIN_MS);
}

/** Starts Redis, the nodes and nginx, and resolves when all of them respond. Leaves nothing behind when it rejects. */
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

  /** The Redis of the stack, and its servers when it fails over by itself. */
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

  /** What a node of a stack for drills reaches a server through. */
  async function linkTo(url: string): Promise<Link | undefined> {
    // The link cannot see through TLS, and leads to one server.
    if (!forDrills || !/^(redis|mysql|zookeeper):/.test(url)) return undefined;
    const link = await (readsReplies && url.startsWith('redis:') ? openReplyLink : openLink)(url);
    links.push(link);
    return link;
  }

  /** What a node reaches MySQL and ZooKeeper through, and the settings that lead it there. */
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
          // The admin API comes last.
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
      /** What the node reaches Redis through, when the stack is one for drills. */
      ...(link && { link }),
      /** What the node reaches each of the masters through, in their order. */
      masterLinks: masterLinks.filter((link) => link !== undefined),
      /** What the node reaches MySQL and ZooKeeper through, when the stack is one for drills and has them. */
      backendLinks: backendLinks as Partial<Record<Backend, Link[]>>,
    };
  }

  /** Starts a server that copies all that the Redis at `primaryUrl` holds. */
  async function startReplica(primaryUrl: string) {
    const dir = join(temp.dir, `replica-${randomUUID()}`);
    mkdirSync(dir);
    const { url, part } = await openReplica(primaryUrl, dir);
    parts.watch(part);
    return { url, stop: () => parts.stop(part) };
  }

  /** Starts a server with nothing in it, whose wall clock can be set ahead: an embedded Valkey, whatever else the stack is made of. */
  async function startClockServer() {
    const { url, part } = await startRedis(undefined, { dir: temp.dir });
    parts.watch(part);
    /** Sets its wall clock ahead of that of the machine, in milliseconds. */
    const setAhead = (aheadMs: number): void => part.send({ aheadMs });
    return { url, setAhead, stop: () => parts.stop(part) };
  }

  /**
   * The replica that a lock waits for: it is there as long as the stack is. Resolves with it, and in a stack for drills with the line from
   * Redis to it, when it has a copy of all that Redis holds.
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
      /** The servers of a Redis that fails over by itself: `redis` is its primary at the start. */
      ...(redisSet && { redisSet }),
      /** The process of Redis, when it is ours. */
      ...(redisProcess && { redisProcess: redisProcess as Breakable }),
      /** Absent when this Redis knows no replication. */
      ...(redis.kind === 'native' && { startReplica }),
      startClockServer,
      /** The replica that was asked for. Absent, too, when this Redis knows no replication. */
      ...(replica && { replica }),
      masters,
      nginx,
      nodes,
      /** Resolves as soon as a part ends that nobody stopped. */
      partDied: parts.partDied,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
