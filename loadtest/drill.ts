import type { SaleEvent } from './lab-client.ts';
import type { DrillResult } from './results.ts';
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
 * What a drill tells while it runs, with the milliseconds since it began. `isStep`: it goes on when this resolves, and does
 * not mind how long that takes.
 */
export type Tell = (sentence: string, atMs: number, isStep: boolean) => Promise<void>;

export interface DrillContext {
  target: Target;
  /** The full name of the stage, such as `4-ttl`. */
  stage: string;
  settings: DrillSettings;
  /** Aborts when the run is to stop; its reason is a sentence. */
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  tell: Tell;
}

export interface DrillOutcome extends Omit<DrillResult, 'drill' | 'taught' | 'durationMs'> {
  /** The raw events of all nodes, for the report's folder. */
  events: SaleEvent[];
}

/** One way to break a lock, or to see that it holds. */
export interface Drill {
  /** A column of the staircase. */
  name: string;
  /** `load`: many sales at once, on a stack as it is in production. `steps`: one fault, on a stack that can be broken. */
  kind: 'load' | 'steps';
  run(context: DrillContext): Promise<DrillOutcome>;
}

/** The outcome of a drill that the servers at hand can't carry, or that has nothing to break. */
export function notApplicable(reason: string): DrillOutcome {
  return {
    verdict: 'not-applicable',
    reasons: [reason],
    witnesses: [],
    witnessCount: 0,
    stockOverTime: [],
    events: [],
  };
}
