// A process with a lock as the contract works with it: its clients, each behind links of its own, and its lock objects.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type Held, type Link, openLink } from '../../../scripts/link/link.ts';
import { bundledArgs, hostArgs } from '../../../scripts/stack/bundle.ts';
import { type Part, startPart } from '../../../scripts/stack/parts.ts';
import type {
  ErrorSaid,
  FromLockProcess,
  LockSettings,
  LockTask,
  Look,
  Patience,
  Question,
  Resources,
} from './messages.ts';

const RETRY_DELAY_MS = 20;
/** How long a process may leave a question unanswered that takes no time, in milliseconds. */
const SILENCE_LIMIT_MS = 5_000;
const file = 'loadtest/grade/contract/lock-process.ts';

/** The lock ended its process, or keeps it from answering: a sentence. */
export class NodeBroken extends Error {}

/** What a call of the lock rejected with. */
export class CallError extends Error {
  readonly code: string | undefined;

  constructor({ name, message, code }: ErrorSaid) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/** A command that has come to a link. */
export interface Seen {
  at: number;
  /** The place of its link. */
  link: number;
  command: Command;
}

export interface LockNode {
  name: string;
  /** What the module exports as its promises. */
  promises: unknown;
  /** Connects once more: over new links, or directly, where nothing is seen or held. */
  connect(how?: 'over links' | 'directly'): Promise<LockClient>;
  resources(): Promise<Resources>;
  /** How long it waited for its turn at worst since then, by the shared clock, in milliseconds. 0 when it has ended. */
  standstillMs(since: number): Promise<number>;
  /** Rejects with NodeBroken when it has ended or does not answer. */
  check(): Promise<void>;
  /** Ends it on the spot. */
  kill(): Promise<void>;
  isKilled(): boolean;
  stop(): Promise<void>;
}

/** A connection of a lock's process, as all sales of a node share one. */
export interface LockClient {
  node: LockNode;
  /** One, or one for each of the masters that vote. */
  links: Link[];
  /** Every command of the lock that has come, but what is sent for a connection's sake. */
  seen: Seen[];
  make(settings: { key: string; leaseMs: number }): Promise<LockObject>;
  /** Holds a command of the lock at each link: the first from now on that `isMeant`, after `skipped` others. */
  hold(skipped: number, isMeant?: (command: Command) => boolean): HeldCommand;
  contend(settings: { key: string; leaseMs: number; contenders: number; holdMs: number }): Promise<Contention>;
  repeat(settings: { key: string; leaseMs: number; times: number }): Promise<void>;
  close(): Promise<void>;
}

export interface HeldCommand {
  /** Resolves with the command when it waits at each link. */
  arrived: Promise<Command>;
  letGo(): Promise<void>;
  drop(): void;
}

export interface Contention {
  /** How often one of them has entered so far. */
  entries(): Promise<number>;
  rest(): Promise<void>;
}

/** A lock object: a holder, or a waiter. Its calls settle as the lock's own do, rejecting with CallError or NodeBroken. */
export interface LockObject {
  client: LockClient;
  ownerToken: string;
  acquire(patience?: Patience): Promise<void>;
  abort(): Promise<void>;
  release(): Promise<void>;
  look(): Promise<Look>;
  /** When its `lost` aborted, by `performance.now()`. */
  lostAt(): number | undefined;
}

/** True for a command that a client sends for its connection's sake, or to hear messages: it takes no step of a lock. */
export const isNoStep = ({ name }: Command) =>
  /^(HELLO|AUTH|SELECT|CLIENT|INFO|PING|QUIT|COMMAND|SCRIPT|[PS]?(UN)?SUBSCRIBE)$/.test(name);

export const namesKey = ({ args }: Command, key: string) => args.some((arg) => arg.includes(key));

/** Starts a process with this lock, for Redis servers at these addresses: one, or several masters that vote. */
export async function startLockNode({
  name,
  lock,
  serverUrls,
}: {
  name: string;
  lock: LockTask['lock'];
  serverUrls: string[];
}): Promise<LockNode> {
  const pending = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  const lostAt = new Map<string, number>();
  const clients = new Set<LockClient>();
  let ready: { promises: unknown } | undefined;
  let asked = 0;
  let broken: NodeBroken | undefined;
  let isKilled = false;

  function listen(message: FromLockProcess) {
    if (message.type === 'ready') ready = message;
    if (message.type === 'lost') lostAt.set(message.lock, performance.now());
    if (message.type !== 'answer') return;
    const { resolve, reject } = pending.get(message.id) ?? {};
    pending.delete(message.id);
    if (message.error) reject?.(new CallError(message.error));
    else resolve?.(message.answer);
  }

  const args = await ('file' in lock ? hostArgs(file) : bundledArgs(file));
  const part: Part = await startPart({
    name,
    command: process.execPath,
    // Short enough that its last words tell the error; tsx needs three to know who asks for a CommonJS module.
    args: ['--expose-gc', '--stack-trace-limit=4', ...args, JSON.stringify({ lock } satisfies LockTask)],
    isReady: async () => ready !== undefined,
    onMessage: (message) => listen(message as FromLockProcess),
  });
  void part.ended.then((sentence) => {
    broken = new NodeBroken(shorten(sentence));
    for (const { reject } of pending.values()) reject(broken);
    pending.clear();
  });

  function ask<Answer>(question: Question): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      if (broken) return reject(broken);
      asked += 1;
      pending.set(asked, { resolve: resolve as (answer: unknown) => void, reject });
      part.send({ id: asked, question });
    });
    // Nobody has to wait for it.
    answer.catch(() => {});
    return answer;
  }

  /** For what takes the process no time. */
  async function askSoon<Answer>(question: Question): Promise<Answer> {
    const over = new AbortController();
    const silent = sleep(SILENCE_LIMIT_MS, undefined, { signal: over.signal }).then(
      () => {
        throw new NodeBroken(`${name} stopped answering, as when its event loop is blocked.`);
      },
      () => new Promise<never>(() => {}),
    );
    return Promise.race([ask<Answer>(question), silent]).finally(() => over.abort());
  }

  async function connect(how: 'over links' | 'directly' = 'over links'): Promise<LockClient> {
    const id = randomUUID();
    const links = how === 'directly' ? [] : await Promise.all(serverUrls.map(openLink));
    const seen: Seen[] = [];
    links.forEach((link, place) => {
      // It takes none of them, so it is asked about each.
      link.holdNext((command) => {
        if (!isNoStep(command)) seen.push({ at: performance.now(), link: place, command });
        return false;
      });
    });
    const ports =
      how === 'directly' ? serverUrls.map((url) => Number(new URL(url).port)) : links.map(({ port }) => port);
    const [redis = 0] = ports;

    function hold(skipped: number, isMeant: (command: Command) => boolean = (command) => !isNoStep(command)) {
      const helds: Held[] = links.map((link) => {
        let left = skipped;
        return link.holdNext((command) => {
          if (!isMeant(command)) return false;
          left -= 1;
          return left < 0;
        });
      });
      const arrived = Promise.all(helds.map((held) => held.arrived)).then(([command]) => command as Command);
      arrived.catch(() => {});
      return {
        arrived,
        letGo: async () => void (await Promise.all(helds.map((held) => held.letGo()))),
        drop() {
          for (const held of helds) held.drop();
        },
      };
    }

    async function make({ key, leaseMs }: { key: string; leaseMs: number }): Promise<LockObject> {
      const lock = randomUUID();
      const ownerToken = `${randomUUID()}:${randomUUID()}`;
      const settings: LockSettings = { key, leaseMs, ownerToken, retryDelayMs: RETRY_DELAY_MS };
      await askSoon({ type: 'make', lock, client: id, settings });
      return {
        client,
        ownerToken,
        acquire: (patience = 'wait') => ask<void>({ type: 'acquire', lock, patience }),
        abort: () => askSoon<void>({ type: 'abort', lock }),
        release: () => ask<void>({ type: 'release', lock }),
        look: () => askSoon<Look>({ type: 'look', lock }),
        lostAt: () => lostAt.get(lock),
      };
    }

    const client: LockClient = {
      node,
      links,
      seen,
      make,
      hold,
      async contend({ key, leaseMs, contenders, holdMs }) {
        const settings = { key, leaseMs, retryDelayMs: RETRY_DELAY_MS };
        await askSoon({ type: 'contend', client: id, settings, contenders, holdMs });
        return {
          entries: () => askSoon<number>({ type: 'entries' }),
          rest: () => ask<void>({ type: 'rest' }),
        };
      },
      repeat: ({ key, leaseMs, times }) =>
        ask<void>({ type: 'repeat', client: id, settings: { key, leaseMs, retryDelayMs: RETRY_DELAY_MS }, times }),
      async close() {
        if (!clients.delete(client)) return;
        await askSoon({ type: 'disconnect', client: id }).catch(() => {});
        await Promise.all(links.map((link) => link.close()));
      },
    };
    clients.add(client);
    try {
      await askSoon({ type: 'connect', client: id, ports: { redis, masters: serverUrls.length > 1 ? ports : [] } });
    } catch (error) {
      await client.close();
      throw error;
    }
    return client;
  }

  const node: LockNode = {
    name,
    promises: ready?.promises,
    connect,
    resources: () => askSoon<Resources>({ type: 'resources' }),
    standstillMs: (since) => askSoon<number>({ type: 'standstill', since }).catch(() => 0),
    check: () => askSoon<void>({ type: 'entries' }),
    isKilled: () => isKilled,
    async kill() {
      isKilled = true;
      part.signal('SIGKILL');
      await part.ended;
    },
    async stop() {
      // Its lock may keep it from ending.
      part.signal('SIGKILL');
      await part.ended;
      for (const client of [...clients]) await client.close();
    },
  };
  return node;
}

/** How it ended, and the line that says why. */
function shorten(sentence: string): string {
  const [first = '', ...lines] = sentence.split('\n').map((line) => line.trim());
  const cause = lines.find((line) => /^(\[?\w*Error\b|\[Unhandled|LOCK_MODULES)/.test(line));
  return `${first}${cause === undefined ? '' : `: ${cause}`}`.replace(/\.?$/, '.');
}
