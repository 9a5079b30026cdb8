// Processes with a lock alone, whose ways to the servers take no time, and a clock that moves when a test says so.

import { afterEach, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { backendOf, hasLock, strategies } from '../../locks/index.ts';
import type { CreateLock, CreateMultiLock, LockOptions } from '../../locks/lock.ts';
import { type LockCode, type LockLab, openLockLab, readLockCode } from '../../simulation/lock-lab.ts';
import { lockNamed } from '../../simulation/lock-service.ts';
import type { Place, ReadCommand } from '../../simulation/proxy.ts';
import { OUTSIDE } from '../../simulation/server.ts';
import { type Reply, ReplyError } from '../../simulation/valkey.ts';
import type { Command } from '../../simulation/world/commands.ts';

export { CLOSED as NO_ANSWER } from '../../simulation/server.ts';
export { aborted, notHeld } from './lock-options.ts';

/** Every lock that needs Redis alone, in the order of the registry. */
export const labLocks = Object.keys(strategies).filter(
  (name) => hasLock(name) && /^(redis|masters)$/.test(backendOf(name)),
);

/** Signal of somebody who tries once. */
export const once = AbortSignal.abort();

/** Which commands: by name, or by the number of the server, 0 for the first. */
type Which = string | ((name: string, server: number) => boolean);
/** How a command is named in `sent`: by its script, or in small letters. */
const nameOf = ({ name, script }: ReadCommand) =>
  script === undefined ? name.toLowerCase() : `${name === 'EVAL' ? 'eval ' : ''}${script}`;

/** The connection of `listen`. */
const LISTENER = 1_000;

/** What a process runs, with options that a test does not care about filled in. `lose` is told of a lease that is lost by surprise. */
function startProcess(lab: LockLab, code: LockCode, lose: () => void) {
  const { node, proxies, exports } = lab.start(code, { oneWayMs: 0 });
  const { world } = node;
  const sent: string[] = [];
  for (const proxy of proxies) proxy.watch((command) => command.name !== 'PING' && sent.push(nameOf(command)));

  // There are no replicas. As many confirm at once as are waited for.
  const wait = async (count: number) => count;
  const redis = new Proxy(world.redis, {
    get: (target, verb) => (verb === 'wait' ? wait : Reflect.get(target, verb)),
  });

  const options = (given: Partial<LockOptions> = {}): LockOptions => ({
    redis,
    masters: world.masters as never,
    mysql: undefined as never,
    zookeeper: undefined as never,
    key: 'lock',
    ownerToken: world.uuid(),
    leaseMs: 30_000,
    renewEveryMs: (given.leaseMs ?? 30_000) / 3,
    retryDelayMs: 20,
    onLeaseLost: lose,
    ...given,
  });

  /** From now on this happens to so many of these commands, to all unless it is said, until it is called off. */
  function catchAll(which: Which = () => true, left: number, arrive: (place: Place) => void) {
    const isMeant = typeof which === 'string' ? (name: string) => name === which : which;
    let isOver = false;
    for (const [server, proxy] of proxies.entries()) {
      const next = () =>
        proxy.hold({
          isMeant: (command) => !isOver && left > 0 && isMeant(nameOf(command), server),
          arrive(_command, place) {
            left -= 1;
            next();
            arrive(place);
          },
        });
      next();
    }
    return () => {
      isOver = true;
    };
  }

  return {
    node,
    world,
    redis,
    options,
    module: exports,
    lock: (given?: Partial<LockOptions>) => (exports.createLock as CreateLock)(options(given)),
    readLock: (given?: Partial<LockOptions>) => (exports.createReadLock as CreateLock)(options(given)),
    multiLock: (keys: string[], given?: Partial<LockOptions>) =>
      (exports.createMultiLock as CreateMultiLock)(options(given), keys),
    /** The commands that it has sent, by the name of the script. */
    sent,
    /** Keeps them back, and what is sent behind them on their connections. */
    hold(which?: Which, times = Number.POSITIVE_INFINITY) {
      const places: Place[] = [];
      const end = catchAll(which, times, (place) => places.push(place));
      return {
        letGo() {
          end();
          for (const place of places.splice(0)) place.letGo();
        },
      };
    },
    /** They never arrive, and their connections end. */
    fail: (which?: Which, times = Number.POSITIVE_INFINITY) => ({
      letGo: catchAll(which, times, (place) => place.drop()),
    }),
    delayReplies(ms: number) {
      for (const proxy of proxies) proxy.delayReplies(ms);
    },
    freeze: () => node.stop(),
    thaw: () => node.resume(),
    kill: () => node.kill(),
  };
}
type Process = ReturnType<typeof startProcess>;

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

/** One for a test file; each test finds it empty, at time 0. A lease that is lost by surprise fails the test. */
export function openLab({ masters = 0 } = {}) {
  const codes = new Map<string, LockCode>();
  let lab: LockLab;
  let processes: Process[] = [];
  let heard: string[] = [];
  const lost: string[] = [];
  const servers = () => [lab.redis, ...lab.masters];
  const serverAt = (number: number) => servers()[number] as (typeof lab)['redis'];

  beforeAll(async () => {
    for (const name of labLocks) codes.set(name, await readLockCode(lockNamed(name)));
  });
  beforeEach(async () => {
    lab = await openLockLab(masters);
    [processes, heard] = [[], []];
  });
  afterEach(() => {
    for (const { kill } of processes) kill();
    lab.close();
    expect({ refused: lab.refusal(), lost: lost.splice(0) }).toEqual({ refused: undefined, lost: [] });
  });

  /** Lets all happen until then, or until it is over. */
  async function run(ms: number, isOver = () => false) {
    // What a test has had a process do is sent.
    for (const { node } of processes) node.take(() => {});
    await lab.schedule.until(isOver, ms);
    for (const { world } of processes) world.begin({ type: 'begins', at: lab.schedule.now(), chance: 0.5 });
  }

  function openProcess(name: string): Process {
    const made = startProcess(lab, codes.get(name) as LockCode, () => lost.push(name));
    processes.push(made);
    return made;
  }

  return {
    /** The time, in milliseconds. */
    now: () => lab.schedule.now(),
    /** A process that has evaluated the file of this lock. */
    process: openProcess,
    /** Several of them. */
    processes(name: string, count: number) {
      return Array.from({ length: count }, () => openProcess(name)) as [Process, Process, Process, ...Process[]];
    },
    follow,
    /** Lets so many milliseconds pass, and all happen that happens in them. */
    advance: (ms: number) => run(ms),
    /** Settles as the promise does, at the time at which it does. Rejects when that is not within so many milliseconds. */
    async done<T>(promise: Promise<T>, limitMs = 100_000): Promise<T> {
      const followed = follow(promise);
      await run(limitMs, () => followed.state !== 'pending');
      if (followed.state === 'pending') throw new Error(`It has not ended within ${limitMs} ms.`);
      // What follows from that at once.
      await run(0);
      return promise;
    },
    /** Has the first server carry a command out, now. Throws what it refuses. */
    redis: (...command: Command) => answerOf(lab.redis.execute(OUTSIDE, command)),
    /** Listens for a process that is not here. Returns what is heard, as `channel message`. */
    listen(...channels: string[]) {
      lab.redis.listen(LISTENER, (channel, message) => heard.push(`${channel} ${message}`));
      for (const channel of channels) lab.redis.execute(LISTENER, ['SUBSCRIBE', channel]);
      return heard;
    },
    /** Has one of the masters carry a command out, which are numbered from 1. */
    master: (number: number, ...command: Command) => answerOf(serverAt(number).execute(OUTSIDE, command)),
    /** SIGSTOP and SIGCONT of servers. */
    freezeServer: (...numbers: number[]) => numbers.map((number) => serverAt(number).stop()),
    thawServer: (...numbers: number[]) => numbers.map((number) => serverAt(number).resume()),
    /** From now on every server refuses what needs memory, until the test has ended. */
    useUpMemory() {
      const all = servers();
      const allow = (bytes: number) =>
        all.map((server) => server.execute(OUTSIDE, ['CONFIG', 'SET', 'maxmemory', bytes]));
      allow(1);
      onTestFinished(() => void allow(0));
    },
  };
}

function answerOf(reply: Reply) {
  if (reply instanceof ReplyError) throw new Error(reply.message);
  return reply;
}
