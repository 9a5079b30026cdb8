// A lock in a scope of the search, played move by move: what has happened as records that a picture is drawn of, and what can happen next.

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
import { readable } from '../../prove/words.ts';
import type { PlayEvent } from '../../simulation/events.ts';
import { readableOf } from '../../simulation/scripts.ts';
import { returnedOf } from '../../simulation/valkey.ts';

/** A lock in a scope of the search. */
export interface GameTask {
  /** The file that exports `createLock`. */
  file: string;
  scope: string;
  processes: number;
  sales?: number;
  isAtOnce?: boolean;
  /** What must be true, where it is not what the scope demands. */
  demands?: Demand[];
}

/** What has happened in a game. Its time is the number of the step. */
export type GameEvent = PlayEvent<SearchSentence>;

/** A game as it stands. */
export interface Standing {
  events: GameEvent[];
  /** What can happen next, in the order of the search; nothing when the game is over. */
  moves: SearchSentence[];
  /** Why the lock is broken. */
  broken?: SearchSentence;
}

/** What can still happen from where a game stands. */
export interface Orders {
  /** How many orders of events there are to an end, and how many of them break the lock. */
  orders: number;
  broken: number;
  /** In how many moves the lock can be broken, and the first of them; none when it can't be. */
  nearest: number;
  next?: number;
}

/** A move of the search; of the last one it is said what it breaks. */
interface Way {
  move: Move;
  broken?: SearchSentence | undefined;
}

export type Game = Awaited<ReturnType<typeof openGame>>;

/** Opens a game. Rejects with a clause when the lock can't be read. */
export async function openGame({ file, scope: name, processes, sales = 1, isAtOnce, demands }: GameTask) {
  const found = scopes.find((scope) => scope.name === name);
  if (found === undefined) throw new Error(`There is no scope ${name}.`);
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

  /** Makes the moves that are chosen, one after the other, until none is. */
  async function go(choose: (steps: Step[], made: number) => number | undefined): Promise<Standing & { state: State }> {
    let state = begin();
    const events = eventsOf(state, undefined, { at: 0, server, lock: lock.held });
    for (let made = 0; ; made += 1) {
      const { ways, broken } = await waysFrom(state);
      const steps = ways.map(({ move }) => move.step());
      if (broken !== undefined) return { state, events, moves: [], broken };
      const way = ways[choose(steps, made) ?? -1];
      if (way === undefined) return { state, events, moves: steps.map(moveOf) };
      const step = way.move.step();
      const before = state;
      state = way.move.state;
      const at = made + 1;
      events.push(...eventsOf(state, before, { at, server, lock: lock.held, step }));
      if (way.broken !== undefined) return { state, events, moves: [], broken: way.broken };
    }
  }

  async function count(state: State): Promise<Orders> {
    const key = keyOf(state);
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
    /** The game after these moves, each by its place among those that could be made. */
    stand: (way: number[]): Promise<Standing> => go((_, made) => way[made]).then(({ state: _, ...shown }) => shown),
    /** The game after these steps of the search. */
    follow: (way: Step[]): Promise<Standing> =>
      go((steps, made) => steps.findIndex((step) => isSame(step, way[made]))).then(({ state: _, ...shown }) => shown),
    /** What can still happen after these moves. */
    orders: (way: number[]): Promise<Orders> => go((_, made) => way[made]).then(({ state }) => count(state)),
  };
}

const endOf = (broken: SearchSentence | undefined): Orders =>
  broken === undefined
    ? { orders: 1, broken: 0, nearest: Number.POSITIVE_INFINITY }
    : { orders: 1, broken: 1, nearest: 0 };

const nameOfStep = ({ at, process, kind, what, reply }: Step) => JSON.stringify([at, process, kind, what, reply]);
const isSame = (step: Step, other: Step | undefined) => other !== undefined && nameOfStep(step) === nameOfStep(other);

/** What can happen next. What came of it is said when it has been made. */
const moveOf = ({ process, what }: Step) => says('move', { process, what });

function madeOf({ process, what, reply, told }: Step): SearchSentence {
  const made = { process, what, came: told };
  return reply === undefined ? says('made', made) : says('made, with a reply', { ...made, reply });
}

/** Processes are shown as nodes. */
const nodeOf = (index: number) => `node-${index + 1}`;

interface Where {
  at: number;
  server: Server;
  /** The names of the keys of the lock. */
  lock: string[];
  step?: Step;
}

/** What a step has changed, and what there is after it. */
function eventsOf(state: State, before: State | undefined, { at, server, lock, step }: Where): GameEvent[] {
  const events: GameEvent[] = step ? [{ kind: 'sentence', at, sentence: madeOf(step) }] : [];
  for (const [index, { status, heads, history, waitsSince }] of state.actors.entries()) {
    const sale = String.fromCharCode(65 + index);
    const of = { at, node: nodeOf(index), sale };
    const last = before?.actors[index];
    const { told, line } = history.seen;
    if (waitsSince !== undefined && last?.waitsSince !== waitsSince)
      events.push({ kind: 'sale', step: 'waiting', ...of });
    for (const { step, stock } of told.slice(last?.history.seen.told.length ?? 0)) {
      if (step === 'entered' || step === 'read' || step === 'wrote' || step === 'left' || step === 'failed')
        events.push({ kind: 'sale', step, ...(stock !== undefined && { stock }), ...of });
    }
    if (last && status !== last.status) events.push(...ofStatus(status, last.status, heads[0]?.command ?? [], of));
    if (line !== undefined) events.push({ kind: 'line', line, ...of });
    if (step?.sent && step.reply !== undefined && step.process === sale) {
      const returned = step.input?.type === 'reply' ? returnedOf(step.input.reply) : step.reply;
      events.push({ kind: 'done', ...messageOf(step.sent.command), returned, ...of });
    }
  }
  return [...events, redisAt(state, { at, server, lock })];
}

const messageOf = (command: (string | number)[]) => ({
  id: 0,
  server: 0,
  ...readableOf(command),
  verb: readable(command),
});

type Status = State['actors'][number]['status'];

/** A process is another than before: paused, killed, or with a command that is held on its way. */
function ofStatus(
  status: Status,
  last: Status,
  command: (string | number)[],
  of: { at: number; node: string; sale: string },
): GameEvent[] {
  const { at, node } = of;
  return [
    ...(last === 'is late' ? [{ kind: 'let go' as const, ...messageOf(command), ...of }] : []),
    ...(last === 'is paused' && status !== 'crashed'
      ? [{ kind: 'node' as const, at, node, is: 'resumed' as const }]
      : []),
    ...(status === 'is late' ? [{ kind: 'held' as const, ...messageOf(command), ...of }] : []),
    ...(status === 'is paused' ? [{ kind: 'node' as const, at, node, is: 'stopped' as const }] : []),
    ...(status === 'crashed' ? [{ kind: 'node' as const, at, node, is: 'killed' as const }] : []),
  ];
}

function redisAt({ at: ms, servers }: State, { at, server, lock }: Where): GameEvent {
  const held = servers[0] as number;
  const ask = (...command: string[]) => server.execute(held, ms, 0, command).reply;
  const ends = server.ends(held);
  const key = namesFor(lock, LOCK_KEY).find((name) => (ends.get(name) ?? -1) >= ms);
  const stock = Number(ask('GET', STOCK_KEY));
  if (key === undefined) return { kind: 'redis', at, stock };
  const kind = ask('TYPE', key);
  const value = kind === 'hash' ? ask('HGETALL', key) : kind === 'string' ? ask('GET', key) : kind;
  const leftMs = (ends.get(key) ?? 0) - ms;
  return {
    kind: 'redis',
    at,
    stock,
    lock: {
      value: Array.isArray(value) ? value.join(': ') : String(value),
      // Where steps are counted, the end says how many milliseconds are left.
      ...(Number.isFinite(leftMs) && { endsAt: at + leftMs }),
    },
  };
}
