// The virtual lab: processes that run the real lock files, real Valkeys in WebAssembly, and a clock that moves when a test says so.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { backendOf, hasLock, locks, strategies } from '../../locks/index.ts';
import type { CreateLock, CreateMultiLock, LockOptions, RedisClient } from '../../locks/lock.ts';
import type { LockModule } from '../../prove/sale.ts';
import { type OpenLock, readLock } from '../../prove/sandbox.ts';
import { openValkey, type Reply, ReplyError, type Valkey } from '../../virtual/valkey.ts';
import { type Command, createWorld, type Pending } from '../../virtual/world.ts';

/** Every lock that needs Redis alone, in the order of the registry. */
export const labLocks = Object.keys(strategies).filter(
  (name) => hasLock(name) && /^(redis|masters)$/.test(backendOf(name)),
);
export const fileOf = (name: string) =>
  new URL(`../../locks/${name in locks ? '' : 'beyond/'}${name}.ts`, import.meta.url).pathname;

/** What acquire rejects with when its signal aborts first. */
export const aborted = { name: 'AbortError', code: 'ABORT_ERR' };
/** What release rejects with when the lock was not held. */
export const notHeld = { name: 'LockNotHeldError', code: 'LOCK_NOT_HELD' };
export const NO_ANSWER = 'Connection is closed.';
/** Signal of somebody who tries once. */
export const once = AbortSignal.abort();

const lua = new URL('../../lua/', import.meta.url);
/** The text of each script, by its name. */
export const scripts = Object.fromEntries(
  readdirSync(lua).map((file) => [file.replace('.lua', ''), readFileSync(new URL(file, lua), 'utf8')]),
);
const sha1Of = (text: string) => createHash('sha1').update(text).digest('hex');
const namesOfScripts = new Map(Object.entries(scripts).map(([name, text]) => [sha1Of(text), name]));

/** What all labs of a worker share. */
const opened = new Map<string, Promise<OpenLock>>();
const valkeys: Valkey[] = [];

/** `hold` keeps a command back; `hold answer` has it carried out, and keeps the answer back; `fail` rejects it, and sends nothing. */
type Fault = 'hold' | 'hold answer' | 'fail';
/** Which commands: by name, or by the number of the server, 0 for the first. */
type Which = string | ((name: string, server: number) => boolean);

/** How a command is named in `sent`: by its script, or in small letters. */
const nameOf = ([verb, what]: Command) =>
  verb === 'EVALSHA'
    ? (namesOfScripts.get(String(what)) ?? 'evalsha')
    : `${verb}`.toLowerCase() + (verb === 'EVAL' ? ` ${namesOfScripts.get(sha1Of(String(what)))}` : '');

/** The connection of `listen`. */
const LISTENER = 1_000_001;

/** Everything that a promise has set off has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** One for a test file; each test finds it empty, at time 0. A lease that is lost by surprise fails the test. */
export function openLab({ masters = 0 } = {}) {
  let now = 0;
  let luck = 1;
  let processes: ReturnType<typeof createProcess>[] = [];
  let modules: Record<string, OpenLock> = {};
  const lost: string[] = [];
  let heard: string[] = [];
  /** Servers that stand still: what they are sent waits. */
  const frozen = new Set<number>();

  beforeAll(async () => {
    for (const name of labLocks) opened.set(name, opened.get(name) ?? readLock(fileOf(name)));
    modules = Object.fromEntries(await Promise.all([...opened].map(async ([name, open]) => [name, await open])));
    while (valkeys.length <= masters) valkeys.push(await openValkey());
  });
  beforeEach(() => {
    [now, luck, processes, heard] = [0, 1, [], []];
    for (const valkey of valkeys) {
      valkey.setTime(0);
      valkey.pipeline(0, [['FLUSHALL']]);
      // It goes on knowing them, unless a test has made it forget.
      const [known] = valkey.pipeline(0, [['SCRIPT', 'EXISTS', ...namesOfScripts.keys()]]) as [number[]];
      if (known.includes(0))
        valkey.pipeline(
          0,
          Object.values(scripts).map((text) => ['SCRIPT', 'LOAD', text]),
        );
    }
  });
  afterEach(() => {
    const refused = processes.flatMap(({ world }) => world.refusal() ?? []);
    for (const { kill } of processes) kill();
    valkeys[0]?.close(LISTENER);
    frozen.clear();
    expect({ refused, lost: lost.splice(0) }).toEqual({ refused: [], lost: [] });
  });

  /** Has a server carry a command out, and puts what it tells others into their inboxes. */
  function execute(server: number, connection: number, command: Command): Reply {
    const valkey = valkeys[server] as Valkey;
    valkey.setTime(now);
    const { reply, messages } = valkey.run(connection, command);
    for (const { to, message } of messages) {
      if (to === LISTENER) heard.push((message as string[]).slice(1).join(' '));
      else processes[(to - 1) >> 1]?.inbox.push(message as string[]);
    }
    return reply;
  }

  function createProcess(name: string) {
    const number = processes.length;
    const world = createWorld(`P${number}`, masters + 1);
    const inbox: string[][] = [];
    const sent: string[] = [];
    const rules: {
      fault: Fault;
      isMeant: (name: string, server: number) => boolean;
      left: number;
      caught: (() => void)[];
    }[] = [];
    /** Commands that were kept back, and whether they may go now. */
    const seen = new Map<number, boolean>();
    const connectionOf = (line: Pending['line']) => number * 2 + (line === 'messages' ? 2 : 1);
    let isRunning = true;
    let isDead = false;

    // Its timer is one of the process.
    const { setTimeout } = world.globals as { setTimeout: (fire: () => void, ms: number) => unknown };
    function timeout(ms: number) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException('It took too long.', 'TimeoutError')), ms);
      return controller.signal;
    }
    world.globals.AbortSignal = new Proxy(AbortSignal, {
      get: (target, member) => (member === 'timeout' ? timeout : Reflect.get(target, member)),
    });
    // The world has no replicas. Here so many confirm at once.
    let replicas = 1;
    async function wait(count: number, limitMs: number) {
      sent.push(`wait for ${count} for ${limitMs}`);
      return replicas;
    }
    const redis = new Proxy(world.redis, {
      get: (target, verb) => (verb === 'wait' ? wait : Reflect.get(target, verb)),
    });
    begin();
    const module: LockModule = (modules[name] as OpenLock)(world);

    function begin() {
      luck = (luck * 16_807) % 2_147_483_647;
      world.begin({ at: now, chance: luck / 2_147_483_647, type: 'begins' });
    }

    function options(given: Partial<LockOptions> = {}): LockOptions {
      return {
        redis,
        masters: world.masters as never,
        mysql: undefined as never,
        zookeeper: undefined as never,
        key: 'lock',
        ownerToken: world.uuid(),
        leaseMs: 30_000,
        retryDelayMs: 20,
        onLeaseLost: () => lost.push(`${name} of P${number}`),
        ...given,
      };
    }

    /** From now on this happens to so many of these commands, to all unless it is said. */
    function plan(fault: Fault, which: Which = () => true, times = Number.POSITIVE_INFINITY) {
      const isMeant = typeof which === 'string' ? (name: string) => name === which : which;
      const rule = { fault, isMeant, left: times, caught: [] as (() => void)[] };
      rules.push(rule);
      return {
        /** How many have been caught and not let go. */
        caught: () => rule.caught.length,
        /** Ends it, and lets those go that were caught. */
        letGo() {
          rules.splice(rules.indexOf(rule), 1);
          for (const go of rule.caught.splice(0)) go();
        },
      };
    }

    /** Takes one step: hears a message, or has a command carried out. False when there is nothing to do. */
    function step(): boolean {
      const [, channel = '', text = ''] = inbox.shift() ?? [];
      if (channel !== '') {
        begin();
        world.hear(channel, text);
        return true;
      }
      const next = world.pending().find(({ id, server }) => !frozen.has(server) && seen.get(id) !== false);
      if (next) carryOut(next);
      return next !== undefined;
    }

    function carryOut({ id, server, line, command }: Pending) {
      const answer = (reply: Reply) => {
        begin();
        world.reply(id, reply);
      };
      const commandName = nameOf(command);
      const isNew = !seen.has(id);
      if (isNew) sent.push(commandName);
      const rule = isNew ? rules.find(({ isMeant, left }) => left > 0 && isMeant(commandName, server)) : undefined;
      if (rule) rule.left -= 1;
      if (rule) seen.set(id, false);
      if (rule?.fault === 'fail') return answer(new ReplyError(NO_ANSWER));
      if (rule?.fault === 'hold') return void rule.caught.push(() => seen.set(id, true));
      const reply = execute(server, connectionOf(line), command);
      if (rule) rule.caught.push(() => answer(reply));
      else answer(reply);
    }

    return {
      world,
      redis: redis as RedisClient,
      inbox,
      begin,
      step,
      isRunning: () => isRunning,
      options,
      module,
      lock: (given?: Partial<LockOptions>) => module.createLock(options(given)),
      readLock: (given?: Partial<LockOptions>) =>
        (module as { createReadLock: CreateLock }).createReadLock(options(given)),
      multiLock: (keys: string[], given?: Partial<LockOptions>) =>
        (module as { createMultiLock: CreateMultiLock }).createMultiLock(options(given), keys),
      /** The commands that it has sent, by the name of the script. */
      sent,
      hold: (which?: Which, times?: number) => plan('hold', which, times),
      holdAnswer: (which?: Which, times?: number) => plan('hold answer', which, times),
      fail: (which?: Which, times?: number) => plan('fail', which, times),
      /** From now on so many replicas confirm what is written. */
      confirming(count: number) {
        replicas = count;
      },
      /** SIGSTOP and SIGCONT. */
      freeze() {
        isRunning = false;
      },
      thaw() {
        isRunning = !isDead;
      },
      /** SIGKILL: its connections close, and nothing of it happens any more. */
      kill() {
        [isRunning, isDead] = [false, true];
        for (const valkey of valkeys)
          for (const line of ['commands', 'messages'] as const) valkey.close(connectionOf(line));
      },
    };
  }

  /** Every process that runs has done what it can do at this time. */
  async function settle() {
    await settled();
    for (let isBusy = true; isBusy; ) {
      isBusy = false;
      for (const each of processes) {
        if (!each.isRunning() || !each.step()) continue;
        isBusy = true;
        await settled();
      }
    }
  }

  function setNow(time: number) {
    now = Math.max(now, time);
    for (const { begin } of processes) begin();
  }

  /** Lets all happen until then, in the order of time, or until it is over. */
  async function runUntil(end: number, isOver = () => false) {
    for (await settle(); !isOver(); await settle()) {
      const timers = processes.flatMap((each) =>
        each.isRunning() ? each.world.timers().map((timer) => ({ ...timer, each })) : [],
      );
      const [next] = timers.sort((one, other) => one.due - other.due);
      if (next === undefined || next.due > end) return;
      setNow(next.due);
      next.each.world.fire(next.id);
    }
  }

  /** A promise that nobody need await, and what has become of it. */
  function follow<T>(promise: Promise<T>) {
    const followed = Object.assign(
      promise.then((value) => value),
      { state: 'pending' as 'pending' | 'done' | 'failed' },
    );
    followed.then(
      () => (followed.state = 'done'),
      () => (followed.state = 'failed'),
    );
    return followed;
  }

  return {
    /** The time, in milliseconds. */
    now: () => now,
    /** A process that has evaluated the file of this lock. */
    process(name: string) {
      const made = createProcess(name);
      processes.push(made);
      return made;
    },
    /** Several of them. */
    processes(name: string, count: number) {
      const made = Array.from({ length: count }, () => this.process(name));
      return made as [(typeof made)[0], (typeof made)[0], (typeof made)[0], ...typeof made];
    },
    follow,
    /** Lets so many milliseconds pass, and all happen that happens in them. */
    async advance(ms: number) {
      const end = now + ms;
      await runUntil(end);
      setNow(end);
    },
    /** Settles as the promise does, at the time at which it does. Rejects when that is not within so many milliseconds. */
    async done<T>(promise: Promise<T>, limitMs = 100_000): Promise<T> {
      const followed = follow(promise);
      await runUntil(now + limitMs, () => followed.state !== 'pending');
      if (followed.state === 'pending') throw new Error(`It has not ended within ${limitMs} ms.`);
      return promise;
    },
    /** Has the first server carry a command out, now. Throws what it refuses. */
    redis: (...command: Command) => answerOf(execute(0, 0, command)),
    /** Listens for a process that is not here. Returns what is heard, as `channel message`. */
    listen(...channels: string[]) {
      for (const channel of channels) execute(0, LISTENER, ['SUBSCRIBE', channel]);
      return heard;
    },
    /** Has one of the masters carry a command out, which are numbered from 1. */
    master: (number: number, ...command: Command) => answerOf(execute(number, 0, command)),
    /** SIGSTOP and SIGCONT of a server. */
    freezeServer: (...servers: number[]) => void servers.map((server) => frozen.add(server)),
    thawServer: (...servers: number[]) => void servers.map((server) => frozen.delete(server)),
    /** A server that starts again has forgotten everything but its scripts. */
    forget: (server: number) => execute(server, 0, ['FLUSHALL']),
  };
}

function answerOf(reply: Reply) {
  if (reply instanceof ReplyError) throw reply;
  return reply;
}
