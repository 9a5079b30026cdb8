// Searches all interleavings of a few processes breadth first, so the first violation found is the shortest.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createKnownStates } from './known-states.ts';
import { findLockKeys } from './lock-keys.ts';
import type { Move, MovesOptions } from './moves/move.ts';
import { createMoves, type Found } from './moves/moves.ts';
import { ofKeys, violated, violatedAtEnd, violatedAtHorizon } from './properties.ts';
import type { OpenLock } from './sandbox.ts';
import { type Budget, type Scope, stockCommand } from './scopes.ts';
import type { Server } from './server.ts';
import { STOCK, type State, type Step } from './state.ts';
import { inEnglish, type SearchSentence, says } from './wording.ts';

export interface Result {
  verdict: 'holds' | 'fails' | 'unknown';
  /** What was violated, or why nothing can be said: as it is read, and as a fact. */
  reason: string;
  why: SearchSentence;
  states: number;
  /** How many orders there are from the beginning to an end; exact up to 2^53. 0 when not every order was looked at. */
  schedules: number;
  /** Branches that were not followed to their end. */
  cut: number;
  /** What the lock uses that the search does not control, such as `Date.now`. */
  uses?: string;
  /** All branches within the horizon were checked. */
  isCutAtHorizon?: true;
  counterexample?: Step[];
}

export interface SearchOptions extends Omit<MovesOptions, 'lock'> {
  /** It looks at no more than so many states, on whatever machine: the verdict is the same on each. */
  mostStates: number;
  /** How much memory this process may have, in bytes. */
  mostMemory: number;
}

/** So many states are looked at between two looks at the memory. */
const LOOK_EVERY = 4_096;

interface Violation {
  /** In which scope. */
  of: Looking;
  why: SearchSentence;
  /** What violates it; none when nothing comes after the state. */
  move?: Move;
  /** How many states had been seen, and how many branches not followed to their end. */
  states: number;
  cut: number;
}

/** What is demanded in one scope, and what is known of it. */
interface Looking {
  scope: Scope;
  /** None of what is demanded is unclear. */
  isClear: boolean;
  result?: Result;
}

export async function search(openLock: OpenLock, server: Server, options: SearchOptions): Promise<Result> {
  const [result] = await searchTogether(openLock, server, options, [options.scope]);
  return result as Result;
}

/**
 * Searches in scopes in which the same can happen, and of which each has demands of its own: every state is looked at once, and for each
 * scope as if it were alone. Its search ends where one of its demands is violated, and that of the others goes on.
 */
export async function searchTogether(
  openLock: OpenLock,
  server: Server,
  options: Omit<SearchOptions, 'scope'>,
  scopes: [Scope, ...Scope[]],
): Promise<Result[]> {
  const { sales, masters, horizonMs, mostStates, mostMemory } = options;
  const stocked = server.execute(server.empty, 0, 0, stockCommand({}, STOCK)).after;
  const alone = [stocked, ...Array.from({ length: masters }, () => server.empty)];
  const lock = await findLockKeys({ openLock }, server, alone);
  const looking = scopes.map((scope): Looking => {
    const demands = scope.demands.filter((demand) => lock.unclear === undefined || !ofKeys.includes(demand));
    return { scope: { ...scope, demands }, isClear: demands.length === scope.demands.length };
  });
  /** Of which nothing is known yet. */
  let open = looking;
  const moves = createMoves({ openLock, sales }, server, { ...options, scope: scopes[0], lock });
  const { begin, movesFrom, leaseEndOf } = moves;
  const lookedUp = { leaseEndOf, server, lock };
  const first = begin();
  const known = createKnownStates(first, server);
  /** From which state each was reached first. */
  const cameFrom: number[] = [-1];
  /** Those that have not been followed, oldest first. */
  let queue: State[] = [];
  const ways = createWays();
  const seen = createSeen(scopes[0].budget);
  let cut = 0;
  let refusal: string | undefined;

  known.add(first);
  queue.push(first);
  /** They are followed in the order of their numbers. */
  let number = -1;
  while (queue.length > 0) {
    const layer = queue;
    queue = [];
    for (let at = 0; at < layer.length; at += 1) {
      const state = layer[at] as State;
      number += 1;
      const found = movesFrom(state);
      const violations = follow(state, number, found instanceof Promise ? await found : found);
      for (const { of, why, move, states, cut } of violations) {
        const steps = await stepsTo(number);
        const counterexample = move ? [...steps, move.step()] : steps;
        of.result = { verdict: 'fails', ...because(why), states, schedules: 0, cut, counterexample };
      }
      if (violations.length > 0) open = open.filter(({ result }) => result === undefined);
      if (open.length === 0) return endAll();
      if (refusal !== undefined) {
        const why = says('not controlled', { name: refusal });
        return endAll({ ...unknown(why, layer.length - at), uses: refusal });
      }
      const left = queue.length + layer.length - at - 1;
      if (left > 0 && known.size() > mostStates)
        return endAll(unknown(says('too many states', { states: known.size() }), left));
      const limit = left > 0 && number % LOOK_EVERY === 0 ? await limitReached() : undefined;
      if (limit) return endAll(unknown(limit, left));
    }
  }
  const counted = { states: known.size(), schedules: ways.count(), cut };
  for (const of of open) of.result = atTheEnd(of);
  return endAll();

  /** The results: this one, where there is none. */
  function endAll(result?: Result): Result[] {
    return looking.map((of) => (of.result ?? result) as Result);
  }

  /** What is known when every state was looked at. */
  function atTheEnd({ isClear }: Looking): Result {
    const missing = seen.missing();
    if (lock.unclear && !isClear) return { verdict: 'unknown', ...because(lock.unclear), ...counted, schedules: 0 };
    if (missing !== undefined) return { verdict: 'unknown', ...because(missing), ...counted };
    if (cut > 0) {
      const why = says('beyond the horizon', { cut, ms: horizonMs });
      return { verdict: 'unknown', ...because(why), ...counted, schedules: 0, isCutAtHorizon: true };
    }
    return { verdict: 'holds', ...because(says('holds')), ...counted };
  }

  function unknown(why: SearchSentence, left: number): Result {
    return { verdict: 'unknown', ...because(why), states: known.size(), schedules: 0, cut: cut + left };
  }

  async function limitReached(): Promise<SearchSentence | undefined> {
    // Timers have their turn: one says that the process is there.
    await new Promise((resolve) => setImmediate(resolve));
    if (!isOver(mostMemory)) return undefined;
    moves.endProcesses();
    collectGarbage();
    return isOver(mostMemory) ? says('too much memory', { bytes: mostMemory }) : undefined;
  }

  /** Adds every state that can come next. For each scope the first move that violates a demand; none at an end that does. */
  function follow(state: State, number: number, { moves, isCut }: Found): Violation[] {
    const violations: Violation[] = [];
    if (isCut) {
      for (const of of open) note(violations, of, violatedAtHorizon(state, of.scope, lock));
      if (violations.length === open.length) return violations;
      cut += 1;
    }
    ways.begin();
    if (moves.length === 0 && !isCut)
      for (const of of open) note(violations, of, violatedAtEnd(state, of.scope, server, lock));
    for (const move of moves) {
      const isNew = add(move.state, number);
      // Whose lock a command changes is no part of the state: on another way to it nobody may have been inside yet.
      if (!isNew && move.touches === undefined) continue;
      for (const of of open) note(violations, of, violated(move.state, of.scope, lookedUp, move.touches), move);
      if (violations.length === open.length) break;
    }
    return violations;
  }

  /** Notes what violates a demand of a scope first, unless nothing can be said any more. */
  function note(violations: Violation[], of: Looking, why: SearchSentence | undefined, move?: Move) {
    if (why === undefined || refusal !== undefined || violations.some((known) => known.of === of)) return;
    violations.push({ of, why, states: known.size(), cut, ...(move && { move }) });
  }

  /** Adds a state that comes after this one. True when it was not known. */
  function add(made: State, from: number): boolean {
    const next = known.add(made);
    ways.lead(next);
    if (next < cameFrom.length) return false;
    cameFrom.push(from);
    queue.push(made);
    seen.see(made);
    refusal ??= made.actors.find(({ history }) => history.seen.refusal)?.history.seen.refusal;
    return true;
  }

  /** The steps by which a state was reached first: its way is walked again. */
  async function stepsTo(number: number): Promise<Step[]> {
    const way: number[] = [];
    for (let at = number; at > 0; at = cameFrom[at] as number) way.unshift(at);
    const steps: Step[] = [];
    let state = first;
    for (const next of way) {
      const { moves } = await movesFrom(state);
      const move = moves.find((each) => known.numberOf(each.state) === next) as Move;
      steps.push(move.step());
      state = move.state;
    }
    return steps;
  }
}

/** A sentence as English text, and as a fact. */
export const because = (why: SearchSentence): Pick<Result, 'reason' | 'why'> => ({ reason: inEnglish(why), why });

/** What must have happened in some order, so that a lock may be said to hold: somebody was inside, and what may go wrong went wrong. */
function createSeen(budget: Scope['budget']) {
  const faults = Object.entries(budget) as [keyof Budget, number][];
  let hasEntered = false;
  let hasFailed = !faults.some(([, times]) => times > 0);
  return {
    see({ actors, budget }: State) {
      hasEntered ||= actors.some(({ isInside }) => isInside);
      hasFailed ||= faults.some(([fault, times]) => budget[fault] < times);
    },
    /** What never happened. */
    missing(): SearchSentence | undefined {
      if (!hasEntered) return says('nobody was inside');
      return hasFailed ? undefined : says('nothing went wrong');
    },
  };
}

/** Is more in use than this, in bytes? */
function isOver(mostMemory: number): boolean {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers > mostMemory;
}

/** What nobody can reach any more counts for nothing. */
function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/** Which state leads to which, as they are followed in the order of their numbers. */
function createWays() {
  const firsts: number[] = [];
  const leads: number[] = [];

  /** How many ways there are from the first state to those that lead nowhere. */
  function count(): number {
    const open = new Uint32Array(firsts.length);
    for (const to of leads) open[to] = (open[to] ?? 0) + 1;
    const counts = new Float64Array(firsts.length);
    counts[0] = 1;
    let ends = 0;
    const ready = [0];
    for (let from = ready.pop(); from !== undefined; from = ready.pop()) {
      const [begin, end] = [firsts[from] as number, firsts[from + 1] ?? leads.length];
      if (begin === end) ends += counts[from] as number;
      for (let at = begin; at < end; at += 1) {
        const to = leads[at] as number;
        counts[to] = (counts[to] as number) + (counts[from] as number);
        open[to] = (open[to] as number) - 1;
        if (open[to] === 0) ready.push(to);
      }
    }
    return ends;
  }

  return {
    /** The next state is followed. */
    begin: () => void firsts.push(leads.length),
    /** It leads to this one. */
    lead: (to: number) => void leads.push(to),
    count,
  };
}
