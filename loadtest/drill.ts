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
}

export interface DrillContext {
  target: Target;
  /** The full name of the stage, such as `4-ttl`. */
  stage: string;
  settings: DrillSettings;
  /** Aborts when the run is to stop; its reason is a sentence. */
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

export interface DrillOutcome extends Omit<DrillResult, 'drill' | 'taught' | 'durationMs'> {
  /** The raw events of all nodes, for the report's folder. */
  events: SaleEvent[];
}

/** One way to break a lock, or to see that it holds. */
export interface Drill {
  /** A column of the staircase. */
  name: string;
  run(context: DrillContext): Promise<DrillOutcome>;
}
