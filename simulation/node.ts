// A simulated node: a process that runs the service, and that can be paused, killed, and blocked.

import type { Standstill } from '../services/inventory/admin/contract.ts';
import { LOOK_MS } from '../services/inventory/admin/standstills.ts';
import { type NodeConnection, openConnection } from './connection.ts';
import type { Tell } from './events.ts';
import { createInbox } from './inbox.ts';
import type { VirtualProxy } from './proxy.ts';
import type { Actor, Schedule } from './schedule.ts';
import type { Service } from './service.ts';
import { openSockets } from './sockets.ts';
import { EPOCH_MS } from './valkey.ts';
import type { Command } from './world/commands.ts';
import { createWorld, type Identity, type Place, type Started } from './world.ts';

export interface NodeOptions<Run> {
  name: string;
  /** Its number, from 0. */
  index: number;
  /** How often it has been started, this time included. */
  starts: number;
  schedule: Schedule;
  /** What it reaches its Redis and then its masters through, in their order. */
  proxies: VirtualProxy[];
  luck: () => number;
  /** Its clock: how far it is ahead of that of the schedule, in milliseconds, and how much faster it runs, as a factor. */
  clock?: { aheadMs?: number; rate?: number };
  /** What it has in common with other processes. */
  identity?: Identity;
  /** Its `process.hrtime` is the clock of the host, by which the service records. */
  recordsByHost?: boolean;
  answerLimitMs?: number | undefined;
  /** How long a packet takes between it and a server, in milliseconds; by its number unless it is said. */
  oneWayMs?: number;
  /** Its clients are its own, and speak over sockets. */
  isOnSockets?: boolean;
  /** Evaluates what it runs in the node's world. */
  start(place: Place): Started<Run>;
  tell: Tell;
  /** The sale that a command names. */
  saleIn?(command: Command): string | undefined;
  /** Told which line its lock is at. */
  onLine?(line: number, sale: string | undefined): void;
}

/** A simulated node that runs the service, or something else. */
export type VirtualNode<Run = Service> = ReturnType<typeof startNode<Run>>;

/** How long a packet takes between a node and a server, in milliseconds: not the same, so that the nodes do not go in step. */
const ONE_WAY_MS = [0.31, 0.43];

/** So many looks at the clock take no time; from there on each takes so long, in milliseconds. */
const FREE_LOOKS = 1_000;
const LOOK_COST_MS = 1;

/** The numbers of a node's connections at each server. */
const numbersOf = (index: number) => ({ commands: 2 * index + 1, messages: 2 * index + 2 });

/** Starts a node, at the present time of the schedule. */
export function startNode<Run>(options: NodeOptions<Run>) {
  const {
    name,
    index,
    starts,
    schedule,
    proxies,
    luck,
    answerLimitMs,
    start,
    tell,
    onLine,
    identity = {},
    saleIn = () => undefined,
  } = options;
  const { aheadMs = 0, rate = 1 } = options.clock ?? {};
  // No two processes make the same identifier.
  const process = starts === 1 ? name : `${name}.${starts}`;
  const world = createWorld(process, proxies.length, {
    hasReplicas: true,
    seed: identity.seed,
    ...(onLine && { onLine }),
  });
  let status: 'running' | 'stopped' | 'dead' = 'running';
  /** Until then its event loop is blocked, or it gets no core. */
  let busyUntil = 0;
  let stoppedAt = 0;
  const standstills: Standstill[] = [];
  /** Something has happened to it since it was flushed. */
  let isTouched = true;
  let nextTimer: { id: number; due: number } | undefined;
  let lastSent = 0;
  /** How often it has looked at its clock since something happened to it. */
  let looks = 0;

  /** How fast its own clock runs beside that of the host, since when, and what it said then. */
  let clock = { rate, since: 0, said: aheadMs };
  const ownTimeAt = (at: number) => clock.said + (at - clock.since) * clock.rate;
  const hostTimeAt = (said: number) => clock.since + (said - clock.said) / clock.rate;
  /** How far its wall clock is ahead of that, in milliseconds. */
  let wallAheadMs = 0;
  /** The present by the clock of the host: what a node records goes by that. */
  let moment = 0;

  /** Sets what the process finds when it asks for the time, and for a random number. */
  function setMoment(at: number) {
    moment = at;
    world.begin({ type: 'begins', at: ownTimeAt(at), chance: luck() });
  }

  /** Something happens to the process, and all that follows from it at once. */
  function happen(what: () => void) {
    isTouched = true;
    looks = 0;
    setMoment(Math.max(schedule.now(), busyUntil));
    what();
  }

  const busyMs = () => Math.max(0, busyUntil - schedule.now());
  const inbox = createInbox({
    schedule,
    waitMs: () => (status === 'running' ? busyMs() : Number.POSITIVE_INFINITY),
    take: happen,
  });

  /** Something comes to the process: it happens when that runs, and has its event loop. */
  function take(what: () => void) {
    if (status !== 'dead') inbox.put(what);
  }

  const end = { name, oneWayMs: options.oneWayMs ?? ONE_WAY_MS[index] ?? 0.5, take, busyMs };
  const sales = { in: (command: Command) => world.sale() ?? saleIn(command), resume: world.atSale };
  const sockets = openSockets({
    schedule,
    proxies,
    node: end,
    timers: world.globals as never,
    tell,
    sales,
    refuse: world.refuseNow,
  });
  const connections = (options.isOnSockets ? [] : proxies).map((proxy, server): NodeConnection => {
    return openConnection({
      schedule,
      world,
      proxy,
      node: end,
      server,
      numbers: numbersOf(index),
      answerLimitMs,
      tell,
      saleIn,
    });
  });

  /** It comes to nothing meanwhile, and notes it as services/inventory/admin/standstills.ts does: between two of its looks. */
  function noteStandstill(from: number, until: number) {
    const dueAt = (Math.floor(from / LOOK_MS) + 1) * LOOK_MS;
    const ms = until - dueAt;
    if (ms >= LOOK_MS) standstills.push({ from: dueAt - LOOK_MS, until, ms });
  }

  /** The business of a sale computes and never yields: the clock of the node goes on, and nothing else of it does. */
  function block(ms: number) {
    tell({ kind: 'node', node: name, is: 'blocked', ms });
    busyUntil = schedule.later(ms / clock.rate);
    noteStandstill(schedule.now(), busyUntil);
    setMoment(busyUntil);
  }

  const performance = world.globals['performance'] as { now(): number };
  /** Who looks at the clock again and again at one moment computes meanwhile: in the end that takes time. */
  function now(): number {
    looks += 1;
    if (looks > FREE_LOOKS) {
      busyUntil = Math.max(busyUntil, schedule.now()) + LOOK_COST_MS;
      setMoment(busyUntil);
    }
    return performance.now();
  }
  const globals = {
    ...world.globals,
    performance: Object.create(performance, { now: { value: now } }),
    Date: dateAt(() => now() + wallAheadMs),
    process: { pid: identity.pid ?? index + 1, hrtime: hrtimeAt(options.recordsByHost ? () => moment : now) },
    Atomics: Object.create(Atomics, {
      wait: { value: (_view: unknown, _at: number, _value: number, ms: number) => block(ms) },
    }),
  };
  setMoment(schedule.now());
  for (const [server, connection] of connections.entries()) world.connect(server, connection);
  const { net } = sockets;
  const { service, lacking = () => undefined } = start({ name: process, world, globals, net, answerLimitMs, identity });

  const actor: Actor = {
    nextTimerAt: () =>
      nextTimer && status === 'running' ? Math.max(busyUntil, hostTimeAt(nextTimer.due)) : Number.POSITIVE_INFINITY,
    fireTimer() {
      const { id } = nextTimer ?? {};
      if (id !== undefined) happen(() => world.fire(id));
    },
    /** Sends what the process has written since then. */
    flush() {
      if (!isTouched || status === 'dead') return;
      isTouched = false;
      nextTimer = world.nextTimer();
      for (const pending of world.pending(lastSent)) {
        lastSent = pending.id;
        connections[pending.server]?.send(pending);
      }
    },
  };

  return {
    name,
    index,
    service,
    world,
    connections,
    actor,
    take,
    isDead: () => status === 'dead',
    /** What it has used that the simulation does not have, such as `worker_threads.Worker()`. */
    lacking: () => lacking() ?? world.refusal(),
    /** How many sockets of it are open. */
    openSockets: sockets.open,
    /** From here on its own clock, by which its timers go, runs so many times as fast as that of the host. */
    runClock(rate: number) {
      tell({ kind: 'clock', node: name, rate });
      clock = { rate, since: schedule.now(), said: ownTimeAt(schedule.now()) };
    },
    /** Sets its wall clock, forward or back by so many milliseconds. What measures time, and its timers, go on. */
    setWallClock(byMs: number) {
      wallAheadMs += byMs;
    },
    /** What its own clock says now, in milliseconds. */
    ownTime: () => ownTimeAt(schedule.now()),
    /** When it came to nothing so far. */
    standstills,
    block,
    /** It gets no core for so long, in milliseconds: what comes to it waits, and its timers are late. */
    standStill(ms: number) {
      if (status === 'dead') return;
      tell({ kind: 'node', node: name, is: 'standing still', ms });
      noteStandstill(schedule.now(), schedule.later(ms));
      busyUntil = Math.max(busyUntil, schedule.later(ms));
    },
    /** Pauses the process: SIGSTOP. */
    stop() {
      if (status !== 'running') return;
      status = 'stopped';
      stoppedAt = schedule.now();
      tell({ kind: 'node', node: name, is: 'stopped' });
    },
    /** Resumes it: SIGCONT. It reads what has come meanwhile, and its timers are late. */
    resume() {
      if (status !== 'stopped') return;
      status = 'running';
      noteStandstill(stoppedAt, schedule.now());
      isTouched = true;
      tell({ kind: 'node', node: name, is: 'resumed' });
      inbox.resume();
    },
    /** Ends the process at once: SIGKILL. */
    kill() {
      status = 'dead';
      inbox.clear();
      busyUntil = schedule.now();
      tell({ kind: 'node', node: name, is: 'killed' });
      for (const connection of connections) connection.close();
      sockets.close();
    },
  };
}

/** A `Date` whose present is that of the simulated clock. */
function dateAt(now: () => number) {
  const present = () => EPOCH_MS + Math.round(now());
  return class VirtualDate extends Date {
    constructor(...args: unknown[]) {
      super(...((args.length > 0 ? args : [present()]) as [number]));
    }
    static override now = present;
  };
}

/** `process.hrtime` by this clock, in milliseconds. */
function hrtimeAt(now: () => number) {
  const bigint = () => BigInt(Math.round(now() * 1e6));
  function hrtime([seconds, nanoseconds]: [number, number] = [0, 0]): [number, number] {
    const passed = bigint() - BigInt(seconds) * 1_000_000_000n - BigInt(nanoseconds);
    return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
  }
  return Object.assign(hrtime, { bigint });
}
