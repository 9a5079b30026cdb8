// Two copies of an unknown service, each with a fault proxy before its Redis, and nginx in front of them.

import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startNginx } from '../../../stack/nginx.ts';
import { all, createOwnParts, type OwnProcess } from '../../../stack/own-parts.ts';
import { makeTempDir, PartError, retryOnTakenPort, startPart } from '../../../stack/parts.ts';
import { freePort } from '../../../stack/ports.ts';
import { openReplyLink, type ReplyLink } from '../../../stack/proxy/link.ts';
import { UNREADABLE } from '../../../stack/proxy/statements.ts';
import { openRedis, openReplica, type RedisServer } from '../../../stack/redis.ts';
import type { Stack } from '../../../stack/stack.ts';
import type { Target } from '../../harness/target.ts';
import { formatDuration } from '../../narration/numbers.ts';
import { joinLinks } from './joined-link.ts';
import type { Said, SaidOfService } from './said.ts';

/** How long a service may take to listen, in milliseconds: Spring Boot on a busy machine takes half a minute. */
const START_LIMIT_MS = 90_000;
/** How often it is said that one does not listen yet, in milliseconds. */
const LATE_MS = 15_000;
/** How long it may take to end by itself, in milliseconds. */
const STOP_LIMIT_MS = 1_000;
/** So many of the last lines that it printed are kept. */
const LINES = 20;

export interface Service extends Pick<SaidOfService, 'command' | 'dir'>, Pick<Said, 'row' | 'running'> {}

export interface Copy {
  name: string;
  url: string;
  /** Through nginx, to this copy alone: a load loses requests at servers that close each connection. */
  loadUrl: string;
  /** To Redis; with a stock in MySQL, also to that. */
  link: ReplyLink;
  /** Absent of one that runs already. */
  process?: OwnProcess;
  /** Of one that runs already: how many requests of loads nginx has passed on to it. */
  passed?(): number;
  /** It talks with MySQL in TLS, or compressed. */
  isUnreadable(): boolean;
  /** The last lines that it printed. */
  lines: readonly string[];
}

export interface ForeignStack extends Pick<Target, 'url' | 'nginx' | 'partDied'> {
  copies: [Copy, Copy];
  redis: Pick<RedisServer, 'url' | 'kind'>;
  /** Absent where the copies run already, as `startReplica` is. */
  redisProcess?: OwnProcess;
  startReplica?: Stack['startReplica'];
  /** Where the lock is that a node loses when it is cut off, and what the copies are told as LEASE_MS when they are started next. */
  lock: { isInRedis: boolean; leaseMs: number };
  stop(): Promise<void>;
}

/** What is of the lab before two copies: a folder, links, and nginx. */
export function openGround() {
  const temp = makeTempDir();
  const parts = createOwnParts();
  const links: ReplyLink[] = [];

  /** A folder in that. */
  function folder(name: string): string {
    const dir = join(temp.dir, name);
    mkdirSync(dir);
    return dir;
  }

  return {
    dir: temp.dir,
    folder,
    parts,
    partDied: parts.partDied,
    async openLink(url: string): Promise<ReplyLink> {
      const link = await openReplyLink(url);
      links.push(link);
      return link;
    },
    /** Starts nginx before both copies, and before each alone. */
    async balance(urls: string[]) {
      const hosts = urls.map((url) => new URL(url).host);
      const before = async (nodes: string[], index: number) => {
        const nginx = await startNginx({ host: '127.0.0.1', nodes, dir: folder(`nginx-${index}`) });
        parts.watch(nginx.part);
        return nginx;
      };
      const [both, ...alone] = await all([hosts, ...hosts.map((host) => [host, host])].map(before));
      if (both === undefined) throw new Error('There are no copies.');
      return { both, alone, url: both.url, nginx: `${both.kind} ${both.version}` };
    },
    stop: (andThen: () => unknown = () => {}) =>
      parts.stopAll(async () => {
        await andThen();
        for (const link of links) await link.close();
        temp.remove();
      }),
  };
}

/** Starts the stack. Rejects with PartError when a copy ends or does not listen in time. */
export async function openForeignStack(
  service: Service,
  asked: {
    leaseMs: number;
    onLine(name: string, line: string): void;
    /** Told what takes long. */
    onWait(line: string): void;
  },
): Promise<ForeignStack> {
  const lock = { isInRedis: true, leaseMs: asked.leaseMs };
  const ground = openGround();
  const { parts, stop } = ground;

  async function openCopy(index: number, redisUrl: string): Promise<Omit<Copy, 'loadUrl'>> {
    const name = `node-${index + 1}`;
    const redis = await ground.openLink(redisUrl);
    const mysql = service.row && (await ground.openLink(service.row.url));
    const link = mysql ? joinLinks(redis, mysql, lock) : redis;
    const urls = { REDIS_URL: redis.url, ...(mysql && { MYSQL_URL: mysql.url }) };
    const lines: string[] = [];

    const startOn = async (port: number) => {
      const startedAt = performance.now();
      let hint = 'Let it listen on the PORT in its environment.';
      const late = setInterval(async () => {
        asked.onWait(
          `${name} does not listen on port ${port} yet, after ${formatDuration(performance.now() - startedAt)}.`,
        );
        const other = await listensElsewhere(lines, port);
        if (other !== undefined) hint = `It listens on ${other}. Let it listen on the PORT in its environment.`;
      }, LATE_MS);
      return startPart({
        name,
        command: 'sh',
        args: ['-c', service.command],
        cwd: service.dir,
        env: { ...process.env, PORT: String(port), ...urls, LEASE_MS: String(lock.leaseMs), NODE_NAME: name },
        addresses: [{ port }],
        readyLimitMs: START_LIMIT_MS,
        stopLimitMs: STOP_LIMIT_MS,
        // Nothing but its port is known of it.
        isReady: () => listens(port),
        onLine(line) {
          lines.push(line);
          asked.onLine(name, line);
          if (lines.length > LINES) lines.shift();
        },
      })
        .catch((error) => {
          if (!(error instanceof PartError) || !error.isLate) throw error;
          const sentence = `${name} did not listen on port ${port} within ${formatDuration(START_LIMIT_MS)}. ${hint}`;
          throw new Error([sentence, ...lines.slice(-5)].join('\n  '));
        })
        .finally(() => clearInterval(late));
    };
    const port = await freePort();
    const own = parts.breakable({ part: await startOn(port), startAgain: () => startOn(port) });
    return {
      name,
      url: `http://127.0.0.1:${port}`,
      link,
      isUnreadable: () => mysql?.counters.commands.has(UNREADABLE) ?? false,
      lines,
      process: own,
    };
  }

  try {
    const redis = await openRedis(undefined, { dir: ground.dir, keepsData: true });
    const { part, startAgain } = redis;
    if (part === undefined || startAgain === undefined) throw new Error('A judgement needs its own Redis.');
    const redisProcess = parts.breakable({ part, startAgain });
    const opened = await Promise.all([0, 1].map((index) => retryOnTakenPort(() => openCopy(index, redis.url))));
    const { alone, url, nginx } = await ground.balance(opened.map((copy) => copy.url));
    const copies = opened.map((copy, index) => ({ ...copy, loadUrl: alone[index]?.url ?? '' })) as [Copy, Copy];
    return {
      copies,
      url,
      nginx,
      redis,
      redisProcess,
      ...(redis.kind === 'native' && {
        async startReplica(primaryUrl: string) {
          const { url, part } = await openReplica(primaryUrl, ground.folder(`replica-${Date.now()}`));
          parts.watch(part);
          return { url, stop: () => parts.stop(part) };
        },
      }),
      partDied: parts.partDied,
      lock,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The port that is named in what it printed, and on which somebody listens. */
async function listensElsewhere(lines: readonly string[], own: number): Promise<number | undefined> {
  const named = lines.flatMap((line) =>
    [...line.matchAll(/(?:\bport\D{1,9}|:)(\d{2,5})\b/gi)].map(([, port]) => Number(port)),
  );
  for (const port of named) if (port !== own && port < 65_536 && (await listens(port))) return port;
  return undefined;
}

/** True when somebody takes a connection on this port. */
export const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
