// The virtual lab: processes that run the real lock files, real Valkeys in WebAssembly, and a clock that moves when a test says so.

import { afterEach, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { backendOf, hasLock, locks, strategies } from '../../locks/index.ts';
import { type OpenLock, readLock } from '../../prove/sandbox.ts';
import { scriptOf, scriptTexts, sha1Of } from '../../virtual/scripts.ts';
import { openValkey, type Reply, ReplyError, type Valkey } from '../../virtual/valkey.ts';
import type { Command } from '../../virtual/world.ts';
import { createProcess, NO_ANSWER, type Process } from './lab-process.ts';

export { aborted, notHeld } from './lock-options.ts';
export { NO_ANSWER };

/** Every lock that needs Redis alone, in the order of the registry. */
export const labLocks = Object.keys(strategies).filter(
  (name) => hasLock(name) && /^(redis|masters)$/.test(backendOf(name)),
);
export const fileOf = (name: string) =>
  new URL(`../../locks/${name in locks ? '' : 'beyond/'}${name}.ts`, import.meta.url).pathname;

/** Signal of somebody who tries once. */
export const once = AbortSignal.abort();

/** The text of each script, by its name. */
export const scripts = Object.fromEntries(scriptTexts.map((text) => [scriptOf(['EVAL', text]) ?? '', text]));

/** What all labs of a worker share. */
const opened = new Map<string, Promise<OpenLock>>();
const valkeys: Valkey[] = [];

/** The connection of `listen`. */
const LISTENER = 1_000_001;

/** Everything that a promise has set off has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** One for a test file; each test finds it empty, at time 0. A lease that is lost by surprise fails the test. */
export function openLab({ masters = 0 } = {}) {
  let now = 0;
  let luck = 1;
  let processes: Process[] = [];
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
      const [known] = valkey.pipeline(0, [['SCRIPT', 'EXISTS', ...scriptTexts.map(sha1Of)]]) as [number[]];
      const load = scriptTexts.map((text) => ['SCRIPT', 'LOAD', text]);
      if (known.includes(0)) valkey.pipeline(0, load);
    }
  });
  afterEach(() => {
    const refused = processes.flatMap(({ world }) => world.refusal() ?? []);
    for (const { kill } of processes) kill();
    valkeys[0]?.close(LISTENER);
    frozen.clear();
    expect({ refused, lost: lost.splice(0) }).toEqual({ refused: [], lost: [] });
  });

  /** The same row of numbers in every run. Source: Park and Miller, Random number generators, 1988. */
  function draw() {
    luck = (luck * 16_807) % 2_147_483_647;
    return luck / 2_147_483_647;
  }

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
      const made = createProcess(name, modules[name] as OpenLock, {
        number: processes.length,
        servers: masters + 1,
        now: () => now,
        draw,
        isFrozen: (server) => frozen.has(server),
        execute,
        close(connection) {
          for (const valkey of valkeys) valkey.close(connection);
        },
        lose: (what) => lost.push(what),
      });
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
    /** From now on every server refuses what needs memory, until the test has ended. */
    useUpMemory() {
      const allow = (bytes: number) => {
        for (const valkey of valkeys) valkey.run(0, ['CONFIG', 'SET', 'maxmemory', bytes]);
      };
      allow(1);
      onTestFinished(() => allow(0));
    },
    /** A server that starts again has forgotten everything but its scripts. */
    forget: (server: number) => execute(server, 0, ['FLUSHALL']),
  };
}

function answerOf(reply: Reply) {
  if (reply instanceof ReplyError) throw new Error(reply.message);
  return reply;
}
