// The world of a simulated process: its commands and timers wait until the simulation continues them.
//
// Code runs only when something happens to the process: it begins, a timer of it fires, a reply or a message comes, who asked hangs up.
// Each sets the time and the luck (`begin`), then does its one thing (`fire`, `reply`, `hear`). What the code sends and waits for
// meanwhile is kept (`pending`, `timers`), and nothing of it goes on by itself. What code may use and this world can't bring is refused,
// and the refusal noted.

import type { RedisClient } from '../locks/lock.ts';
import type { Reply } from './valkey.ts';
import { createClients } from './world/clients.ts';
import { createCommands } from './world/commands.ts';
import { createDraws, createGlobals, refusing } from './world/globals.ts';
import { createMoment } from './world/moment.ts';
import { createTimers } from './world/timers.ts';

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

export type World = ReturnType<typeof createWorld>;

export interface WorldOptions {
  /** Its servers may have replicas: WAIT is sent, and answered. */
  hasReplicas?: boolean;
  /** What its luck goes by alone. */
  seed?: string | undefined;
  /** Told which line the lock is at. */
  onLine?: (line: number, sale: string | undefined) => void;
}

/** The identity that a process shares with others. */
export interface Identity {
  /** As in a container: 1. */
  pid?: number;
  hostname?: string;
  /** What `Math.random()` goes by. What is random in `crypto` differs all the same. */
  seed?: string;
}

/** Where code is evaluated in the simulation. */
export interface Place {
  /** The process: no other has its name. */
  name: string;
  world: World;
  globals: Record<string, unknown>;
  /** What node:net exports there. */
  net: Record<string, unknown>;
  /** How long its clients wait for an answer, in milliseconds. */
  answerLimitMs?: number | undefined;
  identity?: Identity;
}

/** The result of starting a process. */
export interface Started<Run> {
  service: Run;
  /** What it has used that the simulation does not have, such as `worker_threads.Worker()`. */
  lacking?: () => string | undefined;
}

/** The world of the process of this name. The servers after the first are masters that vote. */
export function createWorld(name: string, servers: number, { hasReplicas = false, seed, onLine }: WorldOptions = {}) {
  const moment = createMoment();
  const draws = createDraws(name, seed);
  const timers = createTimers(moment);
  const commands = createCommands(moment, hasReplicas);
  const { clientOf, connect, hear } = createClients(moment, commands);
  const [redis, ...masters] = Array.from(
    { length: servers },
    (_, server) => clientOf(server) as unknown as RedisClient,
  );
  const uuid = () => `${name}-${moment.nextId()}`;
  let line: number | undefined;

  return {
    redis: redis as RedisClient,
    masters,
    connect,
    uuid,
    sleep: timers.sleep,
    every: timers.every,
    refuse: (what: string) => refusing(what, moment),
    /** Notes that this was used, which the world does not have, and throws. */
    refuseNow: moment.refuse,
    /** Called by the code of a lock that says where it is: that of the page does. */
    atLine(number: number) {
      line = number;
      onLine?.(number, moment.sale);
    },
    line: () => line,
    /** The sale that is at work. */
    sale: () => moment.sale,
    /** From here on this sale is at work, until something else happens. */
    atSale(number: string | undefined) {
      moment.sale = number;
    },
    globals: createGlobals(moment, timers, draws, uuid),
    pending: commands.pending,
    timers: timers.all,
    nextTimer: timers.next,
    refusal: moment.refusal,
    hasUsedChance: draws.wereMade,
    /** Sets the time and the luck of what comes next. */
    begin(input: Input) {
      moment.now = input.at;
      moment.sale = undefined;
      draws.begin(input.chance);
    },
    reply: commands.reply,
    hear,
    fire: timers.fire,
  };
}
