// What a check works with: nodes, trials on keys of their own, and the Redis servers themselves.

import type { Redis } from 'ioredis';
import type { Command } from '../../../scripts/link/link.ts';
import { lockKey } from '../../../services/inventory/store.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { formatSeconds } from '../../evidence/numbers.ts';
import type { Promises } from '../../evidence/promises.ts';
import type { LockClient, LockNode, LockObject } from './lock-node.ts';
import { type End, endOf, saidOf } from './outcome.ts';

/** A lease that ends while a check waits, in milliseconds. */
export const LEASE_MS = 800;
/** A lease that never ends while a check looks: nothing of what it stages depends on the time. */
export const LONG_LEASE_MS = 10_000;
/** How long a step may take that has nothing to wait for, in milliseconds. */
export const STEP_LIMIT_MS = 3_000;
/** How long one waits to see that it is kept out, in milliseconds. */
const PROBE_MS = 150;
/** How long its first command may take on a slow machine, in milliseconds. A waiter of its own process may have sent it before. */
const ASK_LIMIT_MS = 1_500;
/** How often one looks whether it has come, in milliseconds. */
const LOOK_MS = 10;

/** What the lock does when nobody is in its way. */
export interface Survey {
  /** The commands that it sends to enter and to release, in their order. To several masters it sends each of them. */
  acquire: Command[];
  release: Command[];
  hasLost: boolean;
  hasToken: boolean;
  /** Why nothing can be staged: a clause with a full stop. */
  isElsewhere?: string;
}

export interface Bed {
  stage: string;
  promises: Promises;
  survey: Survey;
  /** Begins on a key that no other trial has. */
  trial(): Trial;
  /** Starts a process for one check: it may end, or be killed. */
  startNode(): Promise<LockNode>;
}

/** One staging, on a key of its own. */
export interface Trial {
  key: string;
  /** What happened, with the time since it began: the witnesses of what comes of it. */
  steps: string[];
  say(sentence: string): void;
  /** Another connection, of node 1 or 2 or of a process of its own. */
  client(node: 0 | 1 | LockNode, how?: 'over links' | 'directly'): Promise<LockClient>;
  /** A lock object on a connection of its own. */
  holder(node: 0 | 1 | LockNode, leaseMs?: number): Promise<LockObject>;
  /** Lets it enter, and says so. Rejects with NotStagedError when it does not. */
  enter(lock: LockObject, name: string, limitMs?: number): Promise<void>;
  /** True when it asks for the lock for a while and is kept out; if it got in it has given the lock back. */
  isKeptOut(lock: LockObject, name: string): Promise<boolean>;
  /** Deletes the key in every server, as if the lease were over. Resolves with whether there was one. */
  endLease(): Promise<boolean>;
  /** The keys that a command reads or writes, as Redis sees them. */
  keysOf(command: Command): Promise<string[]>;
  /** The keys that name the key, in all servers. */
  keys(): Promise<string[]>;
  /** What these keys hold, by their names. Numbers are left out: they may count. */
  contents(): Promise<Record<string, string>>;
  /** How many subscriptions there are to channels that name the key. */
  subscriptions(): Promise<number>;
  /** What is left of the lease, in milliseconds: -1 when it has no end, -2 when there is no key. */
  leaseLeftMs(): Promise<number>;
}

interface BedOptions {
  stage: string;
  promises: Promises;
  survey: Survey;
  pair: [LockNode, LockNode];
  servers: Redis[];
  startNode: () => Promise<LockNode>;
}

let trials = 0;

/** The bed of one check. `close` leaves nothing of it behind; `nodes` are those that it worked with. */
export function openBed({ stage, promises, survey, pair, servers, startNode }: BedOptions) {
  const clients: LockClient[] = [];
  const keys: string[] = [];
  const used = new Set<LockNode>(pair);

  async function namedBy(key: string) {
    const found = await Promise.all(servers.map((server) => server.keys(`*${escapeGlob(key)}*`)));
    return [...new Set(found.flat())].sort();
  }

  function trial(): Trial {
    trials += 1;
    // Of one length, so that no key is the beginning of another.
    const key = lockKey('001', `${stage}:${String(trials).padStart(6, '0')}`);
    keys.push(key);
    const startedAt = performance.now();
    const steps: string[] = [];
    const say = (sentence: string) => void steps.push(`${formatSeconds(performance.now() - startedAt)} ${sentence}`);

    async function client(node: 0 | 1 | LockNode, how?: 'over links' | 'directly') {
      const made = await (typeof node === 'number' ? pair[node] : node).connect(how);
      clients.push(made);
      return made;
    }

    return {
      key,
      steps,
      say,
      client,
      holder: async (node, leaseMs = LONG_LEASE_MS) => (await client(node)).make({ key, leaseMs }),
      async enter(lock, name, limitMs = STEP_LIMIT_MS) {
        const end = await endOf(lock.acquire(), limitMs);
        if (end.how !== 'done') throw new NotStagedError(`${name} did not enter: acquire() ${saidOf(end)}.`);
        say(`${name} enters`);
      },
      async isKeptOut(lock, name) {
        const from = lock.client.seen.length;
        const asked = lock.acquire();
        const hasAsked = () => survey.acquire.length === 0 || lock.client.seen.length > from;
        let end: End = { how: 'pending' };
        // How long it waits counts from its command on.
        for (let ms = 0; end.how === 'pending' && !hasAsked() && ms < ASK_LIMIT_MS; ms += LOOK_MS)
          end = await endOf(asked, LOOK_MS);
        if (end.how === 'pending') end = await endOf(asked, PROBE_MS);
        if (end.how === 'pending') {
          await lock.abort();
          // Who has entered meanwhile was late, and is let out again.
          void asked.then(() => lock.release()).catch(() => {});
        }
        if (end.how === 'done') await endOf(lock.release(), STEP_LIMIT_MS);
        say(end.how === 'done' ? `${name} enters` : `${name} asks, and is kept out`);
        return end.how !== 'done';
      },
      async endLease() {
        const deleted = await Promise.all(servers.map((server) => server.del(key)));
        const isDeleted = deleted.some((count) => count > 0) || (await deleteLeases());
        if (isDeleted) say('the key is deleted');
        return isDeleted;
      },
      async keysOf({ name, args }) {
        const [server] = servers;
        // It rejects for a command that has none.
        const found = await server?.call('COMMAND', 'GETKEYS', name, ...args).catch(() => []);
        return (found ?? []) as string[];
      },
      keys: () => namedBy(key),
      async contents() {
        const all: Record<string, string> = {};
        for (const [at, server] of servers.entries()) {
          for (const name of await server.keys(`*${escapeGlob(key)}*`)) {
            const type = await server.type(name);
            if (type === 'string' && /^\d+$/.test((await server.get(name)) ?? '')) continue;
            const dump = await server.dumpBuffer(name);
            if (dump !== null) all[`${at} ${name}`] = dump.toString('base64');
          }
        }
        return all;
      },
      async subscriptions() {
        const found = await Promise.all(servers.map((server) => server.pubsub('CHANNELS', `*${escapeGlob(key)}*`)));
        return found.flat().length;
      },
      async leaseLeftMs() {
        const left = await Promise.all(servers.map((server) => server.pttl(key)));
        if (Math.max(...left) !== -2) return Math.max(...left);
        // In another key: the longest lease there is.
        const names = await namedBy(key);
        const others = await Promise.all(servers.flatMap((server) => names.map((name) => server.pttl(name))));
        return Math.max(-2, ...others.filter((ms) => ms >= 0));
      },
    };

    /** For a lock that keeps its lease in another key. */
    async function deleteLeases() {
      let isDeleted = false;
      for (const server of servers) {
        for (const name of await server.keys(`*${escapeGlob(key)}*`)) {
          if ((await server.pttl(name)) >= 0) isDeleted = (await server.del(name)) > 0 || isDeleted;
        }
      }
      return isDeleted;
    }
  }

  return {
    stage,
    promises,
    survey,
    trial,
    async startNode() {
      const node = await startNode();
      used.add(node);
      return node;
    },
    nodes: used,
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      for (const key of keys) {
        const names = await namedBy(key);
        if (names.length > 0) await Promise.all(servers.map((server) => server.del(...names)));
      }
    },
  };
}

const escapeGlob = (key: string) => key.replace(/[[\]*?\\]/g, '\\$&');
