// A move: one thing that can happen next in a state, and the state after it.

import type { LockKeys } from '../lock-keys.ts';
import { LEASE_MS } from '../sale.ts';
import type { Budget, Scope } from '../scopes.ts';
import type { State, Step, StepKind } from '../state.ts';
import type { Clause } from '../wording.ts';

export interface Move {
  state: State;
  /** The process whose command has changed the lock, and in which server. */
  touches?: Touch;
  step(): Step;
}

export interface Touch {
  process: number;
  /** The server whose lock it is, or the bucket. */
  place: number;
}

export interface MovesOptions {
  scope: Scope;
  processes: number;
  sales: number;
  /** How many masters vote; 0 for a lock that asks one server. */
  masters: number;
  /** The stock lies in several buckets, each with a lock of its own. */
  isInBuckets?: boolean;
  /** Which keys are the lock's. */
  lock: LockKeys;
  /** No event is later than this, in milliseconds. */
  horizonMs: number;
}

/** The time of an event that does not happen. */
export const NEVER = Number.POSITIVE_INFINITY;
/** The end of a lease whose holder has released it while it was inside. */
export const GIVEN_UP = -1;
/** How long a pause, a delay or a late reply lasts at most, in milliseconds. */
export const LONGEST_MS = 3 * LEASE_MS;
/** The master that has the faults. All masters are alike, so one is enough. */
export const FAULTY_MASTER = 1;

export const stepOf = ({ at }: State, process: string, kind: StepKind, what: Clause): Step => ({
  at,
  process,
  kind,
  what,
  told: [],
});

/** Budgets of which one fault less is left. They are asked for again and again. */
const spent = new WeakMap<Budget, Partial<Record<keyof Budget, Budget>>>();

/** The budget without one fault of this kind: each time the same object. */
export function spend(budget: Budget, fault: keyof Budget): Budget {
  const known = spent.get(budget) ?? {};
  spent.set(budget, known);
  known[fault] ??= { ...budget, [fault]: budget[fault] - 1 };
  return known[fault];
}
