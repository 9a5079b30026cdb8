// The real Redis of a replay, and the replica that takes its place.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Scope, stockCommand } from '../../prove/scopes.ts';
import { STOCK } from '../../prove/state.ts';
import { openLink } from '../../scripts/link/link.ts';
import { makeTempDir, type Part } from '../../scripts/stack/parts.ts';
import { lackOfRedis, loadScripts, openRedis, openReplica } from '../../scripts/stack/redis.ts';
import { nameIn } from '../../services/inventory/redis-info.ts';
import type { News } from './news.ts';

export interface RealServerOptions {
  news: News;
  /** The lock of the processes, if it is one of the course: some Redis lack its commands. */
  lock: string | undefined;
  scope: Scope;
  /** A second one copies all that it holds. */
  hasReplica: boolean;
}

/** How long a server may take, in milliseconds. */
const LIMIT_MS = 5_000;
/** How often a server is asked how things stand, in milliseconds. */
const LOOK_MS = 5;

export type RealServer = Awaited<ReturnType<typeof openRealServer>>;

/** Starts a Redis with the stock of the scope. Rejects with UnfitServerError where it lacks a replica, or commands of the lock. */
export async function openRealServer({ news, lock = '', scope, hasReplica }: RealServerOptions) {
  const { isCold = false } = scope;
  const closings: (() => unknown)[] = [];
  let url = '';
  let own: Redis;
  let isFailedOver = false;

  async function close() {
    for (const closing of closings.splice(0).toReversed()) await closing();
  }

  function connect(url: string): Redis {
    const client = new Redis(url, { retryStrategy: () => null });
    client.on('error', () => {});
    closings.push(() => client.disconnect());
    return client;
  }

  function watch({ ended, stop }: Part, mayEnd = () => false) {
    let isStopping = false;
    closings.push(() => {
      isStopping = true;
      return stop();
    });
    void ended.then((sentence) => isStopping || mayEnd() || news.fail(new Error(sentence)));
  }

  async function until(isTrue: () => Promise<boolean>, otherwise: string) {
    const deadline = performance.now() + LIMIT_MS;
    while (!(await isTrue())) {
      if (performance.now() > deadline) throw new Error(otherwise);
      await news.until(() => undefined, LOOK_MS);
    }
  }

  try {
    const temp = makeTempDir();
    closings.push(temp.remove);
    const { kind, part, url: ownUrl } = await openRedis(undefined, { dir: temp.dir });
    if (part) watch(part, () => isFailedOver);
    url = ownUrl;
    own = connect(url);
    await own.call(...(stockCommand(scope, STOCK).map(String) as [string, ...string[]]));
    if (!isCold) await loadScripts(url);
    const name = `${kind === 'embedded' ? 'the embedded ' : ''}${nameIn(await own.info('server'))}`;
    const lack = await lackOfRedis(url, lock);
    if (lack !== undefined) throw new UnfitServerError(name, lack.replace(/\.$/, ''));
    if (hasReplica && kind === 'embedded') {
      const why = `${name} knows no replication, so there is no replica to fail over to`;
      throw new UnfitServerError(name, why);
    }
    const replica = hasReplica ? await startReplica(temp.dir) : undefined;

    return {
      name,
      url: () => url,
      /** Every key, and which channels somebody listens to. */
      async whatIsLeft() {
        const channels = (await own.pubsub('CHANNELS')) as string[];
        return [...(await own.keys('*')), ...channels.map((channel) => `a subscription to ${channel}`)];
      },
      stock: (key: string) => own.get(key),
      /** Resolves when none of these keys is there any more. */
      async untilGone(keys: string[]) {
        if (keys.length === 0) return;
        await until(async () => (await own.exists(...keys)) === 0, `${name} still has a key whose lease is over.`);
      },
      /** Resolves when Redis has carried out all that was written to it before. */
      async settle() {
        // It has read the other connections when it answers for the first time, and carried out what they sent the second time.
        await own.ping();
        await own.ping();
      },
      /** Waits until the replica has copied everything. It hears of nothing that comes later. */
      cutReplication: async () => replica?.cut(),
      /** Kills the server; the replica takes its place. */
      async failOver() {
        if (replica === undefined) return;
        isFailedOver = true;
        part?.signal('SIGKILL');
        await part?.ended;
        await replica.promote();
        url = replica.url;
        own = replica.client;
        if (!isCold) await loadScripts(url);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }

  async function startReplica(dir: string) {
    const line = await openLink(url);
    closings.push(() => line.close());
    const ownDir = join(dir, 'replica');
    mkdirSync(ownDir);
    const replica = await openReplica(line.url, ownDir);
    if (replica.part) watch(replica.part);
    const client = connect(replica.url);
    const hasCopied = async () => {
      const [first, second] = await Promise.all([own.info('replication'), client.info('replication')]);
      const offsetOf = (text: string, field: string) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1]);
      const isUp = /^master_link_status:up/m.test(second);
      return isUp && offsetOf(second, 'slave_repl_offset') >= offsetOf(first, 'master_repl_offset');
    };
    await until(hasCopied, 'The replica has not copied the stock.');
    return {
      url: replica.url,
      client,
      async cut() {
        await until(hasCopied, 'The replica has not copied everything.');
        line.cut('silent');
      },
      promote: () => client.call('REPLICAOF', 'NO', 'ONE'),
    };
  }
}

/** This Redis lacks what a replay needs. The message is a clause, without a full stop. */
export class UnfitServerError extends Error {
  readonly server: string;

  constructor(server: string, why: string) {
    super(why);
    this.server = server;
  }
}
