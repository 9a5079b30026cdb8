// One cell of the matrix: a lock in a scope, which is a fault model with its demands.

import { replay } from './replay.ts';
import { LEASE_MS } from './sale.ts';
import { type OpenLock, readLock } from './sandbox.ts';
import { type Budget, type Scope, scopes } from './scopes.ts';
import { because, type Result, searchTogether } from './search.ts';
import { openServer, type Server } from './server.ts';
import { says } from './wording.ts';

export interface Task {
  /** The name of its row. */
  stage: string;
  /** The file that exports `createLock`. */
  file: string;
  /** The name of the scope. */
  scope: string;
  /** How many there are at least: some scopes show nothing with fewer than they say. */
  processes: number;
  /** How many sales each process makes, one after the other. */
  sales: number;
  /** Each process makes its sales at the same time. */
  isAtOnce?: boolean;
  /** How many masters vote; 0 for a lock that asks one server. */
  masters: number;
  /** Its stock lies in several buckets. */
  isInBuckets?: boolean;
  /** Its permits are looked at, and not how it sells: with one permit as a lock. */
  isSemaphore?: boolean;
  /** How often each fault may happen, where it is not as the scope has it. */
  budget: Partial<Budget>;
  /** How many states the search may look at; MOST_STATES when it is not given. */
  mostStates?: number;
}

/** A task, and the names of other scopes with the same fault model: they are searched together. */
export interface SharedTask extends Task {
  sharedWith?: string[];
}

export interface Cell extends Omit<Task, 'file' | 'mostStates'>, Result {
  /** What may go wrong, in a sentence. */
  says: string;
  /** How long the search took, in milliseconds; its part, where several cells were searched together. */
  ms: number;
  /** How often the counterexample was replayed, and went the same way each time. */
  replayed?: number;
}

/** No event is later than this, in milliseconds of the search's clock, unless the scope says so. */
export const HORIZON_MS = 5 * LEASE_MS;
/** The limit on states for the locks of the course: enough for every expected verdict. */
export const MOST_STATES = 400_000;
/** The limit on states for a user's own lock: a lock whose waiters never sleep has infinitely many. */
export const MOST_STATES_WHILE_ONE_WAITS = 200_000;
/** The memory limit of a search process, in bytes: 2 GB are enough for one process on each of two cores. */
export const MOST_MEMORY = 800_000_000;
/** How often a counterexample is replayed. */
const REPLAYS = 20;

/** The locks that were read, by their files. */
const locks: Record<string, Promise<OpenLock>> = {};

/** Opened when it is first needed: states of one lock are states of another. */
let server: Promise<Server> | undefined;
let known = 0;

/** The lock's file can't be loaded. `clause` says why. */
export class UnreadableError extends Error {
  readonly clause: string;

  constructor(stage: string, clause: string) {
    super(`${stage} can't be proved: ${clause}.`);
    this.clause = clause;
  }
}

/** Checks one cell. Rejects with an UnreadableError when the lock's file can't be loaded, and with a sentence when there is no such scope. */
export async function proveCell(task: Task): Promise<Cell> {
  const [cell] = await proveCells(task);
  return cell as Cell;
}

/** Checks one cell for each scope of the task, in their order. */
export async function proveCells({ sharedWith = [], ...task }: SharedTask): Promise<Cell[]> {
  const { file, mostStates = MOST_STATES, ...named } = task;
  const found = scopeNamed(task.scope);
  const processes = Math.max(task.processes, found.processes ?? 0);
  const scope = scopeFor(found, task);
  const others = sharedWith.map((name) => scopeFor(scopeNamed(name), task));
  locks[file] ??= readLock(file);
  const read = await locks[file].catch((error: Error) => {
    throw new UnreadableError(task.stage, error.message);
  });
  const openLock: OpenLock = task.isSemaphore ? (world) => ({ createLock: read(world).createLock }) : read;
  // What it knows of one lock is of no use to the next one, after a while.
  if (known > 200_000) {
    server = undefined;
    known = 0;
  }
  server ??= openServer();
  const startedAt = performance.now();
  const options = {
    processes,
    sales: task.sales,
    masters: task.masters,
    ...(task.isInBuckets && { isInBuckets: true }),
    horizonMs: scope.horizonMs ?? HORIZON_MS,
    mostStates,
    mostMemory: MOST_MEMORY,
  };
  const results = await searchTogether(openLock, await server, options, [scope, ...others]);
  known += Math.max(...results.map(({ states }) => states));
  const ms = (performance.now() - startedAt) / results.length;
  const cells: Cell[] = [];
  for (const [at, result] of results.entries()) {
    const { name, says, budget } = [scope, ...others][at] as Scope;
    const cell: Cell = { ...named, scope: name, processes, budget, says, ...result, ms };
    cells.push(result.counterexample ? await replayed(cell, openLock, scope) : cell);
  }
  return cells;
}

function scopeNamed(name: string): Scope {
  const found = scopes.find((scope) => scope.name === name);
  if (found === undefined) throw new Error(`There is no scope ${name}.`);
  return found;
}

/** The scope with the faults and sales of the task. */
export function scopeFor(scope: Scope, { budget, isAtOnce }: Pick<Task, 'budget' | 'isAtOnce'>): Scope {
  const more = isAtOnce && { script: (process: number) => ({ ...scope.script?.(process), isAtOnce }) };
  return { ...scope, budget: { ...scope.budget, ...budget }, ...more };
}

/** What does not go the same way again was no counterexample. */
async function replayed(cell: Cell, openLock: OpenLock, scope: Scope): Promise<Cell> {
  const { counterexample = [], processes, sales, masters, isInBuckets = false } = cell;
  for (let time = 1; time <= REPLAYS; time += 1) {
    const difference = await replay(counterexample, { openLock, sales, scope, processes, masters, isInBuckets });
    if (difference) {
      const why = says('replay differs', { replay: time, of: REPLAYS, ...difference });
      return { ...cell, verdict: 'unknown', ...because(why) };
    }
  }
  return { ...cell, replayed: REPLAYS };
}
