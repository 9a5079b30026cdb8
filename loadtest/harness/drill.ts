// What a drill is, what it is given, and what comes of it.

import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import type { DrillResult } from '../evidence/results.ts';
import type { Fault, LeaseSample } from '../evidence/timeline.ts';
import type { Target } from './target.ts';

export interface DrillSettings {
  /** Sales of a rush. */
  requests: number;
  /** How many buyers ask at the same time. */
  connections: number;
  /** The stock of a rush, enough for all. */
  stock: number;
  /** The stock of a sell-out; twice as many buyers come. */
  units: number;
  /** The lease of the drills that go step by step, in milliseconds. */
  leaseMs: number;
}

/**
 * What a drill emits while it runs, with the milliseconds since it began. `isStep`: it goes on when this resolves, and does
 * not mind how long that takes.
 */
export type Narrate = (sentence: string, atMs: number, isStep: boolean) => Promise<void>;

/** What a drill that goes step by step shows of itself while it goes on, to somebody who only looks. */
export interface Observed {
  /** When the drill began, on the shared clock. */
  startedAt: number;
  /** When it was over and its way back began; undefined until then. What happens afterwards is no part of it. */
  endedAt(): number | undefined;
  /** What the drill did to break things: the list grows, and the end of each is entered when it is over. */
  faults: readonly Fault[];
  /** What Redis held under the lock's key so far, the oldest first. None where the lock is elsewhere. */
  samples(): readonly LeaseSample[];
  /** The units in stock at the beginning. */
  stock: number;
}

/** Called when a drill is ready for its first step; again for each time that it is run again. */
export type Observe = (seen: Observed) => void;

export interface DrillContext {
  target: Target;
  /** The full name of the stage, such as `4-ttl`. */
  stage: string;
  settings: DrillSettings;
  /** Aborts when the run is to stop; its reason is a sentence. */
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  narrate: Narrate;
  /** Called when a drill step by step under a lock begins, for somebody who watches. */
  observe?: Observe | undefined;
  /** How often a drill step by step is run at most on a machine that is too busy to tell anything. */
  tries?: number;
  /** A load ends when nobody has been given the lock for longer than a sale waits for it. */
  givesUp?: boolean;
}

export interface DrillOutcome extends Omit<DrillResult, 'drill' | 'taught' | 'durationMs'> {
  /** The raw events of all nodes, for the report's folder. */
  events: SaleEvent[];
  /** With `unknown`: the lock never takes the step that the drill breaks. Nothing may be concluded from it under a lock of ours. */
  nothingToBreak?: boolean;
  /** With `unknown`: the machine stood still for so long that the lock explains nothing. */
  isSpoilt?: boolean;
}

/** One way to break a lock, or to see that it holds. */
export interface Drill {
  /** A column of the staircase. */
  name: string;
  /** `load`: many sales at once, on a stack as it is in production. `steps`: one fault, on a stack that can be broken. */
  kind: 'load' | 'steps';
  /** It computes all the time, and the virtual world alone runs it, wherever the drills are run. */
  isCheck?: true;
  run(context: DrillContext): Promise<DrillOutcome>;
}

/** A drill to run under a stage. */
export interface Cell {
  stage: string;
  drill: Drill;
}

const nothing = { witnesses: [], witnessCount: 0, events: [] };

/** The outcome of a drill that the servers at hand can't carry, or that has nothing to break. */
export const notApplicable = (reason: string): DrillOutcome => ({
  ...nothing,
  verdict: 'not-applicable',
  reasons: [reason],
});

/** The outcome of a drill that could not be carried through: it proves nothing. */
export const lostTrack = (error: unknown): DrillOutcome => ({
  ...nothing,
  verdict: 'unknown',
  reasons: [error instanceof Error ? error.message : String(error)],
});
