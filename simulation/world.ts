// What a process of the virtual world lives in: its commands and timers wait until somebody lets them go on.

import { Redis } from 'ioredis';
import type { RedisClient } from '../locks/lock.ts';
import { createLuck } from './luck.ts';
import { type Reply, ReplyError } from './valkey.ts';

/** To each server a process has one connection for commands, and one that listens. On each, first in is first out. */
export type Line = 'commands' | 'messages';

export type Command = (string | number)[];

/** A command that the process has sent, and that has not reached the server. */
export interface Pending {
  id: number;
  /** The number of the server. */
  server: number;
  line: Line;
  command: Command;
  /** The sale that has sent it, where one has. */
  sale?: string | undefined;
}

export interface Timer {
  id: number;
  /** When it may fire, in milliseconds. */
  due: number;
}

/**
 * What happens to a process from outside, at a time in milliseconds. `chance` is what the first `Math.random()` returns, or almost: no
 * number is drawn twice. Those after it are a row of the process's own.
 */
export type Input = { at: number; chance: number } & (
  | { type: 'begins' }
  | { type: 'reply'; id: number; reply: Reply }
  | { type: 'timer'; id: number }
  | { type: 'message'; channel: string; message: string }
  | { type: 'hangs-up' }
);

/** Globals that code finds replaced by those of its world. */
export const replacedGlobals = [
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['performance', 'Math', 'AbortSignal', 'crypto'],
];

/** Commands that the search can't put back, and why. */
const uncontrolled: [what: string, isMeant: (command: Command) => boolean][] = [
  [', which waits at the server', ([name]) => /^(BL|BR|BZ|WAIT)/.test(String(name))],
  [' with BLOCK, which waits at the server', ([name, ...args]) => /^XREAD/.test(String(name)) && args.some(isBlock)],
  [', which changes its connection', ([name]) => OF_CONNECTIONS.test(String(name))],
  [', which changes what scripts there are', ([name, what]) => isOfScripts(String(name), String(what))],
  [' to several channels at once', ([name, ...channels]) => /SUBSCRIBE$/.test(String(name)) && channels.length !== 1],
];

/** All processes send over one connection, which has no state but its subscriptions. */
const OF_CONNECTIONS =
  /^(AUTH|CLIENT|DISCARD|EXEC|HELLO|MONITOR|MULTI|QUIT|RESET|SELECT|UNWATCH|WATCH|[PS]U?N?SUBSCRIBE)$/;
const isBlock = (arg: string | number) => /^block$/i.test(String(arg));
const isOfScripts = (name: string, what: string) =>
  /^(FUNCTION|FCALL)/.test(name) || (name === 'SCRIPT' && !/^(load|exists)$/i.test(what));

export type World = ReturnType<typeof createWorld>;

export interface WorldOptions {
  /** Its servers may have replicas: WAIT is sent, and answered. */
  hasReplicas?: boolean;
  /** Told which line the lock is at. */
  onLine?: (line: number, sale: string | undefined) => void;
}

/** A connection that may be lost, as a client of it sees it. */
interface Connected {
  isReady(): boolean;
  /** How long an answer is waited for, in milliseconds. */
  answerLimitMs: number;
  listeners: Record<'ready' | 'close', Set<() => void>>;
}

/** What ioredis says of a command that it does not send: it has no connection. */
const NOT_WRITEABLE = "Stream isn't writeable and enableOfflineQueue options is false";

/** A timer as code has it. It keeps no process alive, and fires for as long as something else does. */
class Timeout {
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
}

/** How far apart two numbers of the same luck are at most: too little to change for how many milliseconds somebody waits. */
const APART = 1e-4;

/** The world of the process of this name. The servers after the first are masters that vote. */
export function createWorld(name: string, servers: number, { hasReplicas = false, onLine }: WorldOptions = {}) {
  let nowMs = 0;
  let lastId = 0;
  let chance = 0;
  /** How many numbers were drawn since something happened last. */
  let draws = 0;
  /** A row of numbers that no other process has. */
  const ownLuck = createLuck(
    [...name].reduce((seed, letter) => Math.imul(seed + letter.charCodeAt(0), 2_654_435_761), 0),
  );
  /** What the lock used that it may not use. */
  let refusal: string | undefined;
  let line: number | undefined;
  /** The sale that is at work since something has happened: its step, its timer or an answer to it. */
  let sale: string | undefined;
  const pending: (Pending & { settle(reply: Reply): void })[] = [];
  const timers = new Map<number, { due: number; everyMs?: number; fire: () => void; sale: string | undefined }>();
  const listeners: ((channel: string, message: string) => void)[] = [];
  /** By the numbers of the servers. One that is not here stands for good. */
  const connections: Connected[] = [];

  function addTimer(fire: () => void, waitMs: number, isRepeated = false) {
    lastId += 1;
    const id = lastId;
    timers.set(id, { due: nowMs + waitMs, fire, sale, ...(isRepeated && { everyMs: waitMs }) });
    return new Timeout(id);
  }
  // A timer of Node never waits for less than a millisecond.
  const wholeMs = (ms: unknown) => Math.max(1, Math.trunc(Number(ms)) || 1);
  const startTimer =
    (isRepeated: boolean) =>
    (fire: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
      addTimer(() => fire(...args), wholeMs(ms), isRepeated);
  const clear = (timer?: { id: number } | number) =>
    void (timer !== undefined && timers.delete(typeof timer === 'number' ? timer : timer?.id));

  function send(server: number, command: Command, line: Line = 'commands'): Promise<Reply> {
    if (connections[server]?.isReady() === false) return Promise.reject(new Error(NOT_WRITEABLE));
    const reason = uncontrolled.find(([, isMeant]) => isMeant(command))?.[0];
    if (reason && !(hasReplicas && command[0] === 'WAIT')) refuse(`the command ${command[0]}${reason}`);
    const odd = command.find((part) => typeof part !== 'string' && typeof part !== 'number');
    if (odd !== undefined)
      refuse(`${typeof odd === 'object' ? 'an' : 'a'} ${typeof odd} as a part of the command ${command[0]}`);
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      const settle = (reply: Reply) =>
        reply instanceof ReplyError
          ? reject(Object.assign(new Error(reply.message), { name: reply.name }))
          : resolve(reply);
      pending.push({ id, server, line, command, sale, settle });
    });
  }

  function uuid() {
    lastId += 1;
    return `${name}-${lastId}`;
  }

  function sleep(ms: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        clear(timer);
        // As Node does: who sleeps is told why.
        const error = new Error('The operation was aborted', { cause: signal?.reason });
        reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
      };
      const timer = addTimer(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      }, wholeMs(ms));
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }

  function refuse(what: string): never {
    refusal ??= what;
    throw new Error(`The search does not control ${what}.`);
  }
  /** An object of which only these members are there; any other is refused. */
  const only = (what: string, members: object) =>
    new Proxy(members, {
      get: (target, member) =>
        Reflect.has(target, member) ? Reflect.get(target, member) : refuse(`${what}.${String(member)}`),
    });
  const refusing = (what: string) =>
    new Proxy(function refused() {}, {
      get: (_target, member) => refuse(`${what}.${String(member)}`),
      apply: () => refuse(`${what}()`),
      construct: () => refuse(`new ${what}()`),
    });

  /**
   * A client of ioredis as far as locks use it: every other member that ioredis has is a command. While its connection is lost, each
   * command rejects, and none is kept for later.
   */
  function clientOf(server: number, line: Line = 'commands'): Record<string, unknown> {
    const command =
      (verb: string) =>
      (...args: Command) =>
        send(server, [verb.toUpperCase(), ...args.flat()], line);
    const toldOf = (event: string) => connections[server]?.listeners[event as 'ready' | 'close'];
    const own: Record<string, unknown> = {
      get status() {
        return connections[server]?.isReady() === false ? 'reconnecting' : 'ready';
      },
      get options() {
        return { socketTimeout: connections[server]?.answerLimitMs };
      },
      duplicate: () => clientOf(server, 'messages'),
      on(event: string, listener: (...message: string[]) => void) {
        if (line === 'messages' && event === 'message') listeners.push(listener);
        toldOf(event)?.add(listener);
        return client;
      },
      once(event: string, listener: () => void) {
        const once = () => {
          toldOf(event)?.delete(once);
          listener();
        };
        toldOf(event)?.add(once);
        return client;
      },
      off(event: string, listener: () => void) {
        toldOf(event)?.delete(listener);
        return client;
      },
      disconnect() {},
      quit: async () => 'OK',
      async hgetall(key: string) {
        const fields = (await command('hgetall')(key)) as string[];
        const isName = (_field: string, at: number) => at % 2 === 0;
        return Object.fromEntries(fields.filter(isName).map((field, at) => [field, fields[at * 2 + 1]]));
      },
      /** The service has its last connection ended by the server: the embedded Valkey does not do it, so nothing is asked. */
      call: (verb: string, ...args: Command) =>
        verb === 'CLIENT' && connections[server] ? Promise.resolve('') : command(verb)(...args),
      multi: () => refuse('MULTI'),
      pipeline: () => refuse('a pipeline'),
      defineCommand(verb: string, { lua, numberOfKeys }: { lua: string; numberOfKeys?: number }) {
        const count = numberOfKeys === undefined ? [] : [numberOfKeys];
        own[verb] = (...args: Command) => send(server, ['EVAL', lua, ...count, ...args.flat()], line);
      },
    };
    const client: Record<string, unknown> = new Proxy(own, {
      get(_target, verb) {
        if (typeof verb === 'symbol') return undefined;
        // A lock may ask whether a script was defined before it defines it.
        return own[verb] ?? (verb in Redis.prototype ? command(verb) : undefined);
      },
    });
    return client;
  }
  const clients = Array.from({ length: servers }, (_, server) => clientOf(server) as unknown as RedisClient);

  return {
    redis: clients[0] as RedisClient,
    masters: clients.slice(1),
    /** From here on the client of a server speaks over a connection that may be lost. */
    connect(server: number, connection: Connected) {
      connections[server] = connection;
    },
    uuid,
    sleep,
    refuse: refusing,
    /** Called by the code of a lock that says where it is: that of the page does. */
    atLine(number: number) {
      line = number;
      onLine?.(number, sale);
    },
    line: () => line,
    /** The sale that is at work. */
    sale: () => sale,
    /** From here on this sale is at work, until something else happens. */
    atSale(number: string | undefined) {
      sale = number;
    },
    globals: {
      setTimeout: startTimer(false),
      setInterval: startTimer(true),
      setImmediate: (fire: (...args: unknown[]) => void, ...args: unknown[]) => addTimer(() => fire(...args), 0),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
      performance: only('performance', { now: () => nowMs }),
      Math: Object.assign(Object.create(Math), {
        random() {
          draws += 1;
          const own = ownLuck();
          return draws === 1 ? (chance + own * APART) % 1 : own;
        },
      }),
      // Not a proxy of AbortSignal itself: where its members can't be changed, a proxy of it may give no other.
      AbortSignal: new Proxy(() => {}, {
        get: (_target, member) =>
          member === 'timeout' ? () => refuse('AbortSignal.timeout()') : Reflect.get(AbortSignal, member),
      }),
      crypto: only('crypto', { randomUUID: uuid }),
    } as Record<string, unknown>,
    /** What has not reached its server, of those that were sent after this one. */
    pending: (after = 0): Pending[] => pending.filter(({ id }) => id > after).map(({ settle: _, ...rest }) => rest),
    timers: (): Timer[] => [...timers].map(([id, { due }]) => ({ id, due })),
    /** The timer that is due first; of equal times the one that was started first. */
    nextTimer(): Timer | undefined {
      let first: Timer | undefined;
      for (const [id, { due }] of timers) if (first === undefined || due < first.due) first = { id, due };
      return first;
    },
    refusal: () => refusal,
    hasUsedChance: () => draws > 0,
    /** Sets the time and the luck of what comes next. */
    begin(input: Input) {
      nowMs = input.at;
      chance = input.chance;
      draws = 0;
      sale = undefined;
    },
    reply(id: number, reply: Reply) {
      const at = pending.findIndex((command) => command.id === id);
      const [command] = pending.splice(at, 1);
      sale = command?.sale;
      command?.settle(reply);
    },
    hear(channel: string, message: string) {
      for (const listener of listeners) listener(channel, message);
    },
    fire(id: number) {
      const timer = timers.get(id);
      if (timer === undefined) return;
      if (timer.everyMs === undefined) timers.delete(id);
      else timer.due = nowMs + timer.everyMs;
      sale = timer.sale;
      timer.fire();
    },
  };
}
