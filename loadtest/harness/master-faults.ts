// Ways to break the masters that vote for a lock.

import type { RedisClient } from '../../locks/lock.ts';
import type { Link } from '../../scripts/link/link.ts';
import type { Master } from '../../scripts/stack/stack.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { sharedClock } from './clock.ts';
import { type createFaults, greetingsOf } from './faults.ts';
import { readLease } from './lease-watch.ts';
import { network } from './network.ts';
import { poll } from './poll.ts';
import type { Target, TargetNode } from './target.ts';

/** How long a master may leave the harness unanswered before it counts as silent, in milliseconds. */
const ANSWER_LIMIT_MS = 200;
const RECONNECT_DELAY_MS = 20;
/** How long a fault may take to be there, in milliseconds. */
const STAGE_LIMIT_MS = 5_000;

export interface MasterFaultsOptions extends Pick<Target, 'nodes'> {
  masters: Master[];
  lockKey: string;
  /** Leads nodes to a server whose wall clock can be set ahead. */
  lend: ReturnType<typeof createFaults>['lendClock'];
  /** Called with the way to undo each fault. */
  onFault: (undo: () => unknown) => void;
}

/** Ways to break the masters that vote for a lock. A master is named by its place in the stack, from 0. */
export function createMasterFaults({ nodes, masters, lockKey, lend, onFault }: MasterFaultsOptions) {
  const clients = masters.map(({ url }) => connect(url));

  function processOf(master: number) {
    const process = masters[master]?.process;
    if (process === undefined) throw new NotStagedError(`Master ${master + 1} is not a process of this run.`);
    return process;
  }

  function linksOf(node: TargetNode, wanted: number[]): Link[] {
    return wanted.map((master) => {
      const link = node.masterLinks?.[master];
      if (link === undefined) throw new NotStagedError(`${node.name} reaches master ${master + 1} without a link.`);
      return link;
    });
  }

  /** Who has the vote of a master, as it says itself: an owner token, `nobody`, or `silent`. */
  const voteAt = (master: number) => voteOf(clients[master] as RedisClient, lockKey);

  /** Stops a master where it stands. Throws NotStagedError when it answers all the same. */
  async function freeze(master: number) {
    const process = processOf(master);
    onFault(() => process.signal('SIGCONT'));
    process.signal('SIGSTOP');
    if ((await voteAt(master)) !== 'silent') throw new NotStagedError(`Master ${master + 1} answers after SIGSTOP.`);
  }

  /**
   * Kills a master and starts it again: it has forgotten every vote. Resolves with what tells whether a node has made a new connection
   * to it, and found it ready. Throws NotStagedError when it has forgotten nothing.
   */
  async function forget(master: number) {
    const process = processOf(master);
    if (['nobody', 'silent'].includes(await voteAt(master))) {
      throw new NotStagedError(`Master ${master + 1} had no vote to forget.`);
    }
    let isBack = false;
    const comeBack = async () => {
      if (isBack) return;
      isBack = true;
      await process.start();
    };
    onFault(comeBack);
    const greetings = new Map(
      nodes.flatMap((node) => linksOf(node, [master])).map((link) => [link, greetingsOf(link)]),
    );
    await process.kill();
    await comeBack();
    const hasAnswered = async () => (await voteAt(master)) !== 'silent' || undefined;
    if (!(await poll(hasAnswered, STAGE_LIMIT_MS))) throw new NotStagedError(`Master ${master + 1} did not come back.`);
    if ((await voteAt(master)) !== 'nobody') throw new NotStagedError(`Master ${master + 1} has forgotten nothing.`);

    return async function isReached(node: TargetNode): Promise<boolean> {
      const [link] = linksOf(node, [master]);
      if (!link?.counters.open || greetingsOf(link) <= (greetings.get(link) ?? 0)) return false;
      // Its answer has been read by the time the node answers.
      await node.state();
      return true;
    };
  }

  /** Puts a server whose wall clock can be set ahead in the place of a master, for these nodes. Throws NotStagedError. */
  async function lendClock(master: number, nodes: TargetNode[]) {
    const links = nodes.flatMap((node) => linksOf(node, [master]));
    const [own, ownUrl] = [clients[master], masters[master]?.url ?? ''];
    const clock = await lend(links, ownUrl);
    const client = connect(clock.url);
    clients[master] = client;
    onFault(() => {
      client.disconnect();
      if (own) clients[master] = own;
    });
    return clock;
  }

  /** Cuts the lines between a node and these masters. */
  function cut(node: TargetNode, wanted: number[]): { restore(): void } {
    const links = linksOf(node, wanted);
    const restore = () => {
      for (const link of links) link.restore();
    };
    onFault(restore);
    for (const link of links) link.cut();
    return { restore };
  }

  /** Makes what these masters answer to a node come `ms` later. What the node says reaches them as before. */
  function delay(node: TargetNode, wanted: number[], ms: number) {
    const links = linksOf(node, wanted);
    const end = () => {
      for (const link of links) link.delayReplies(0);
    };
    onFault(end);
    for (const link of links) link.delayReplies(ms);
    return {
      end,
      /** The shortest time in which one of them answers over the node's line, in milliseconds. */
      measure: async () => Math.min(...(await Promise.all(links.map(answerTime)))),
    };
  }

  return {
    count: masters.length,
    /** What each master says, in their order. */
    votes: () => Promise.all(clients.map((_, master) => voteAt(master))),
    freeze,
    forget,
    cut,
    delay,
    lendClock,
    /** Loads the project's scripts into each of them. */
    async prepare() {
      await Promise.all(masters.map(({ url }) => network().loadScripts(url)));
    },
    /** Takes every vote away. */
    async clear() {
      await Promise.all(clients.map(async (client) => client.del(...(await keysOf(client, lockKey)))));
    },
    close() {
      for (const client of clients) client.disconnect();
    },
  };
}

/** An external lock may have a key of another name, which has that of the lock in it. */
async function keysOf(client: RedisClient, lockKey: string): Promise<string[]> {
  const found = await client.keys(`*${lockKey}*`).catch(() => []);
  return found.length > 0 ? found : [lockKey];
}

async function voteOf(client: RedisClient, lockKey: string): Promise<string> {
  const [key = lockKey] = await keysOf(client, lockKey);
  const lease = await readLease(client, key);
  return lease === undefined ? 'silent' : (lease.owner ?? 'nobody');
}

/** How long a master takes to answer over a link, in milliseconds. Rejects when the connection breaks. */
function answerTime({ port }: Link): Promise<number> {
  const askedAt = sharedClock();
  return new Promise<number>((resolve, reject) => {
    const probe = network().probe(port, (what) => {
      probe.close();
      if (what === 'data') resolve(sharedClock() - askedAt);
      else reject(new Error('The connection to a master broke.'));
    });
  });
}

function connect(url: string) {
  const client = network().connectRedis(url, {
    commandTimeout: ANSWER_LIMIT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RECONNECT_DELAY_MS,
  });
  client.on('error', () => {});
  return client;
}
