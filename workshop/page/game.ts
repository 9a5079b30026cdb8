// A lock in a fault model, played move by move: past events as records for the picture, and the possible next moves.

import { HORIZON_MS, scopeFor } from '../../prove/cell.ts';
import { findLockKeys, namesFor } from '../../prove/lock-keys.ts';
import type { Move, MovesOptions } from '../../prove/moves/move.ts';
import { createMoves } from '../../prove/moves/moves.ts';
import { type Known, violated, violatedAtEnd, violatedAtHorizon } from '../../prove/properties.ts';
import { LOCK_KEY, STOCK_KEY } from '../../prove/sale.ts';
import { readLock } from '../../prove/sandbox.ts';
import { type Demand, type Scope, scopes, stockCommand } from '../../prove/scopes.ts';
import { openServer, type Server } from '../../prove/server.ts';
import { keyOf, STOCK, type State, type Step } from '../../prove/state.ts';
import { type SearchSentence, says } from '../../prove/wording.ts';
import type { LockKey, PlayEvent, Returned } from '../../simulation/events.ts';
import { readableOf } from '../../simulation/scripts.ts';
import { type Reply, returnedOf } from '../../simulation/valkey.ts';

/** A lock in a fault model. */
export interface GameTask {
  /** The file that exports `createLock`. */
  file: string;
  scope: string;
  processes: number;
  sales?: number;
  isAtOnce?: boolean;
  /** The demands, if they differ from those of the fault model. */
  demands?: Demand[];
}

/** The events of a game. */
export type GameEvent = PlayEvent<SearchSentence>;

export type GameMove = Extract<SearchSentence, { form: 'move' }>;

/** The state of a game. */
export interface Standing {
  events: GameEvent[];
  /** The possible moves, in the model checker's order; empty once the game is over. */
  moves: GameMove[];
  /** Why the lock is broken. */
  broken?: SearchSentence;
}

/** What is still possible in a state of a game. */
export interface Orders {
  /** The number of interleavings to an end, and how many of them break the lock. */
  orders: number;
  broken: number;
  /** The fewest moves that break the lock, and the first of them; absent if nothing can break it. */
  nearest: number;
  next?: number;
}

/** A move in the model checker; the last one says what it breaks. */
interface Way {
  move: Move;
  broken?: SearchSentence | undefined;
}

export type Game = Awaited<ReturnType<typeof openGame>>;

/** Opens a game. Rejects with a clause if the lock can't be loaded. */
export async function openGame({ file, scope: name, processes, sales = 1, isAtOnce, demands }: GameTask) {
  const found = scopes.find((scope) => scope.name === name);
  if (found === undefined) throw new Error(`There is no fault model ${name}.`);
  const [openLock, server] = await Promise.all([readLock(file), openServer()]);
  const whole = scopeFor(found, { budget: {}, ...(isAtOnce && { isAtOnce }) });
  const scope: Scope = { ...whole, ...(demands && { demands }) };
  const stocked = server.execute(server.empty, 0, 0, stockCommand({}, STOCK)).after;
  const lock = await findLockKeys({ openLock }, server, [stocked]);
  const options: MovesOptions = {
    scope,
    processes,
    sales,
    masters: 0,
    horizonMs: scope.horizonMs ?? HORIZON_MS,
    lock,
  };
  const { begin, movesFrom, leaseEndOf } = createMoves({ openLock, sales }, server, options);
  const known: Known = { leaseEndOf, server, lock };
  const counted = new Map<string, Orders>();

  async function waysFrom(state: State): Promise<{ ways: Way[]; broken?: SearchSentence | undefined }> {
    const { moves, isCut } = await movesFrom(state);
    const broken = isCut
      ? violatedAtHorizon(state, scope, lock)
      : moves.length === 0
        ? violatedAtEnd(state, scope, server, lock)
        : undefined;
    if (broken !== undefined) return { ways: [], broken };
    return { ways: moves.map((move) => ({ move, broken: violated(move.state, scope, known, move.touches) })) };
  }

  /** Makes the chosen moves one by one, until none is chosen. */
  async function go(choose: (steps: Step[], made: number) => number | undefined): Promise<Standing & { state: State }> {
    let state = begin();
    const events = eventsOf(state, undefined, { made: 0, server, lock: lock.held });
    for (let made = 0; ; made += 1) {
      const { ways, broken } = await waysFrom(state);
      const steps = ways.map(({ move }) => move.step());
      if (broken !== undefined) return { state, events, moves: [], broken };
      const way = ways[choose(steps, made) ?? -1];
      if (way === undefined) return { state, events, moves: steps.map(moveOf) };
      const step = way.move.step();
      const before = state;
      state = way.move.state;
      events.push(...eventsOf(state, before, { made: made + 1, server, lock: lock.held, step }));
      if (way.broken !== undefined) return { state, events, moves: [], broken: way.broken };
    }
  }

  async function count(state: State): Promise<Orders> {
    const key = keyOf(state, server);
    const there = counted.get(key);
    if (there) return there;
    const { ways, broken } = await waysFrom(state);
    const sum: Orders = ways.length > 0 ? { orders: 0, broken: 0, nearest: Number.POSITIVE_INFINITY } : endOf(broken);
    for (const [index, way] of ways.entries()) {
      const after = way.broken === undefined ? await count(way.move.state) : endOf(way.broken);
      sum.orders += after.orders;
      sum.broken += after.broken;
      if (after.nearest + 1 < sum.nearest) Object.assign(sum, { nearest: after.nearest + 1, next: index });
    }
    counted.set(key, sum);
    return sum;
  }

  return {
    /** The game after these moves, each given as an index among the possible moves. */
    stand: (way: number[]): Promise<Standing> => go((_, made) => way[made]).then(({ state: _, ...shown }) => shown),
    /** The game after these steps of the model checker. */
    follow: (way: Step[]): Promise<Standing> =>
      go((steps, made) => steps.findIndex((step) => isSame(step, way[made]))).then(({ state: _, ...shown }) => shown),
    /** What is still possible after these moves. */
    orders: (way: number[]): Promise<Orders> => go((_, made) => way[made]).then(({ state }) => count(state)),
  };
}

const endOf = (broken: SearchSentence | undefined): Orders =>
  broken === undefined
    ? { orders: 1, broken: 0, nearest: Number.POSITIVE_INFINITY }
    : { orders: 1, broken: 1, nearest: 0 };

const nameOfStep = ({ at, process, kind, what, reply }: Step) => JSON.stringify([at, process, kind, what, reply]);
const isSame = (step: Step, other: Step | undefined) => other !== undefined && nameOfStep(step) === nameOfStep(other);

/** A possible move. Its result is known only after it was made. */
const moveOf = ({ process, what }: Step) => says('move', { process, what }) as GameMove;

function madeOf({ process, what, reply, told }: Step): SearchSentence {
  const made = { process, what, came: told };
  return reply === undefined ? says('made', made) : says('made, with a reply', { ...made, reply });
}

/** Processes are shown as nodes. */
const nodeOf = (index: number) => `node-${index + 1}`;

interface Where {
  /** The number of steps so far. */
  made: number;
  server: Server;
  /** The names of the lock's keys. */
  lock: string[];
  step?: Step;
}

/** Steps take no time; this artificial distance gives each step its own time. */
const STEP_MS = 0.01;

/** The changes of a step, in the lab's order: what Redis holds, the reply, and what its sale does with it. */
function eventsOf(state: State, before: State | undefined, { made, server, lock, step }: Where): GameEvent[] {
  const at = state.at + made * STEP_MS;
  const redis = redisAt(state, at, { server, lock });
  const events: GameEvent[] = step ? [{ kind: 'sentence', at, sentence: madeOf(step) }] : [];
  const leases = leasesOf(before && redisAt(before, at, { server, lock }), redis, step?.sent !== undefined);
  // As in the lab, a lease that ends does so by itself, and what a command has changed is known before its answer.
  events.push(...leases.filter(({ is }) => is === 'ended'), redis, ...leases.filter(({ is }) => is !== 'ended'));
  for (const [index, { status, heads, history, waitsSince }] of state.actors.entries()) {
    const sale = nameOfProcess(index);
    const of = { at, node: nodeOf(index), sale };
    const last = before?.actors[index];
    const { told, line } = history.seen;
    const isNew = waitsSince !== undefined && last?.waitsSince === undefined;
    const steps = told.slice(last?.history.seen.told.length ?? 0);
    // Without a lock nobody waits: who begins is inside.
    const begins = steps.some((each) => each.step === 'entered') && last?.waitsSince === undefined;
    if (isNew || begins) events.push({ kind: 'sale', step: 'waiting', ...of });
    if (last && status !== last.status)
      events.push(...ofStatus(status, last.status, heads[0]?.command ?? [], lock, of));
    if (step?.sent && step.reply !== undefined && step.process === sale) {
      const returned = step.input?.type === 'reply' ? returnedOf(step.input.reply) : valueIn(step.reply);
      const message = messageOf(step.sent.command, lock);
      events.push({ kind: 'done', id: made, ...message, returned: nameOf(returned), ...of });
      if (step.input !== undefined) events.push({ kind: 'reply', id: made, ...message, ...of });
    }
    if (step?.kind === 'reply' && step.input?.type === 'reply' && step.process === sale)
      events.push({ kind: 'reads', returned: nameOf(returnedOf(step.input.reply)), ...of });
    for (const { step, stock } of steps) {
      if (
        step === 'entered' ||
        step === 'nested' ||
        step === 'read' ||
        step === 'wrote' ||
        step === 'left' ||
        step === 'failed'
      )
        events.push({ kind: 'sale', step, ...(stock !== undefined && { stock }), ...of });
    }
    if (line !== undefined) events.push({ kind: 'line', line, ...of });
  }
  return events;
}

/** A reply that its process has not read yet, as the model checker records it; for an error its message. */
function valueIn(noted: string): Returned {
  try {
    return JSON.parse(noted);
  } catch {
    return noted;
  }
}

const nameOfProcess = (index: number) => String.fromCharCode(65 + index);
/** The process of an owner token in the model checker, or the text as it is. */
const nameOf = (returned: Returned) => (typeof returned === 'string' ? nameIn(returned) : returned);
const nameIn = (text: string) => (/^[A-Z]:\d+$/.test(text) ? (text[0] as string) : text);

function messageOf(command: (string | number)[], lock: string[]) {
  const read = readableOf(command);
  const keys = command.slice(/^EVAL/.test(String(command[0])) ? 3 : 1).map(String);
  const about = keys[0] === STOCK_KEY ? 'stock' : namesFor(lock, LOCK_KEY).includes(keys[0] ?? '') ? 'lock' : 'other';
  const isPlain = about !== 'other' && read.name === String(command[0]);
  const verb = isPlain ? `${read.name} ${about}` : read.verb;
  return { server: 0, ...read, verb, about, args: read.args?.map(nameIn) } as const;
}

const endOfLease = ({ endsAt }: LockKey) => (endsAt === undefined ? {} : { endsAt });

type OfRedis = Extract<GameEvent, { kind: 'redis' }>;
type OfLease = Extract<GameEvent, { kind: 'lease' }>;

/** The effect on the lease. A key that disappears without a command has expired. */
function leasesOf(before: OfRedis | undefined, now: OfRedis, isAsked: boolean): OfLease[] {
  const lease = { kind: 'lease', at: now.at } as const;
  const [had, has] = [before?.lock, now.lock];
  if (had && had.value === has?.value)
    return (has.endsAt ?? 0) > (had.endsAt ?? 0) ? [{ ...lease, is: 'renewed' }] : [];
  const events: OfLease[] = [];
  if (had) events.push({ ...lease, is: isAsked ? 'freed' : 'ended' });
  if (has) events.push({ ...lease, is: 'begun', ...endOfLease(has) });
  return events;
}

type Status = State['actors'][number]['status'];

/** A process has changed: paused, killed, or with a command delayed on its way. */
function ofStatus(
  status: Status,
  last: Status,
  command: (string | number)[],
  lock: string[],
  of: { at: number; node: string; sale: string },
): GameEvent[] {
  const { at, node } = of;
  const events: GameEvent[] = [];
  if (last === 'is late') events.push({ kind: 'let go', id: at, ...messageOf(command, lock), ...of });
  if (last === 'is paused' && status !== 'crashed') events.push({ kind: 'node', at, node, is: 'resumed' });
  if (status === 'is late') events.push({ kind: 'held', id: at, ...messageOf(command, lock), ...of });
  if (status === 'is paused') events.push({ kind: 'node', at, node, is: 'stopped' });
  if (status === 'crashed') events.push({ kind: 'node', at, node, is: 'killed' });
  return events;
}

function redisAt({ at: ms, servers }: State, at: number, { server, lock }: Omit<Where, 'made'>): OfRedis {
  const held = servers[0] as number;
  const ask = (...command: string[]) => server.execute(held, ms, 0, command).reply;
  const ends = server.ends(held);
  const key = namesFor(lock, LOCK_KEY).find((name) => (ends.get(name) ?? -1) >= ms);
  const stock = Number(ask('GET', STOCK_KEY));
  if (key === undefined) return { kind: 'redis', at, stock };
  const kind = ask('TYPE', key);
  const found = kind === 'hash' ? ask('HGETALL', key) : [kind === 'string' ? ask('GET', key) : kind];
  const [value = '', count] = (found as Reply[]).map(String);
  const owner = nameIn(value);
  const endsAt = ends.get(key) ?? Number.POSITIVE_INFINITY;
  return {
    kind: 'redis',
    at,
    stock,
    lock: {
      value,
      ...(owner !== value && { owner }),
      ...(count !== undefined && { count: Number(count) }),
      ...(Number.isFinite(endsAt) && { endsAt }),
    },
  };
}
