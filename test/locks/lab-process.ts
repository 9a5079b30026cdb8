// A process of the virtual lab: it runs a real lock file, and a test may hold its commands, stop it and kill it.

import type { CreateLock, CreateMultiLock, LockOptions, RedisClient } from '../../locks/lock.ts';
import type { LockModule } from '../../prove/sale.ts';
import type { OpenLock } from '../../prove/sandbox.ts';
import { verbOf } from '../../virtual/scripts.ts';
import { type Reply, ReplyError } from '../../virtual/valkey.ts';
import { type Command, createWorld, type Pending } from '../../virtual/world.ts';

/** What a command that is not answered rejects with. */
export const NO_ANSWER = 'Connection is closed.';

/** `hold` keeps a command back; `hold answer` has it carried out, and keeps the answer back; `fail` rejects it, and sends nothing. */
type Fault = 'hold' | 'hold answer' | 'fail';
/** Which commands: by name, or by the number of the server, 0 for the first. */
type Which = string | ((name: string, server: number) => boolean);

/** Which commands something happens to, and how many more of them. */
interface Rule {
  fault: Fault;
  isMeant: (name: string, server: number) => boolean;
  left: number;
  /** What lets those go that were caught. */
  caught: (() => void)[];
}

/** What a process finds around it. */
interface Room {
  /** Its own number, from 0. */
  number: number;
  servers: number;
  now(): number;
  /** The next draw of the lab's luck, from 0 to 1. */
  draw(): number;
  isFrozen(server: number): boolean;
  execute(server: number, connection: number, command: Command): Reply;
  close(connection: number): void;
  /** A lease is lost by surprise. */
  lose(what: string): void;
}

/** How a command is named in `sent`: by its script, or in small letters. */
const nameOf = (command: Command) => `${command[0] === 'EVAL' ? 'eval ' : ''}${verbOf(command).toLowerCase()}`;

export type Process = ReturnType<typeof createProcess>;

/** Evaluates the file of the lock of this name. */
export function createProcess(name: string, openLock: OpenLock, room: Room) {
  const { number } = room;
  const world = createWorld(`P${number}`, room.servers);
  const inbox: string[][] = [];
  const sent: string[] = [];
  const rules: Rule[] = [];
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
  // The lab has no replicas. Here as many confirm at once as are waited for.
  const wait = async (count: number) => count;
  const redis = new Proxy(world.redis, {
    get: (target, verb) => (verb === 'wait' ? wait : Reflect.get(target, verb)),
  });
  begin();
  const module: LockModule = openLock(world);

  function begin() {
    world.begin({ at: room.now(), chance: room.draw(), type: 'begins' });
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
      onLeaseLost: () => room.lose(`${name} of P${number}`),
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
    const next = world.pending().find(({ id, server }) => !room.isFrozen(server) && seen.get(id) !== false);
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
    const reply = room.execute(server, connectionOf(line), command);
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
      for (const line of ['commands', 'messages'] as const) room.close(connectionOf(line));
    },
  };
}
