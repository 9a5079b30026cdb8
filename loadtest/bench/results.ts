// `bench.json`: what a bench writes down. Others read it: a change that breaks them gets a new `format`.

import type { Results } from '../evidence/results.ts';
import type { Contestant } from './contestants.ts';
import type { CpuTime } from './cpu-time.ts';

/** A figure over the rounds: the median, the lowest and the highest. */
export interface Spread {
  value: number;
  min: number;
  max: number;
}

/** The figures of one turn. `docs/explanation/benchmarks.md` explains each. */
export interface TurnFigures {
  perSecond: number;
  /** Absent when nothing was acquired. */
  commandsPerAcquisition?: number;
  /** Per acquisition. With `http` the processes are the nodes. */
  cpuMicros: CpuTime;
  /** In milliseconds. */
  waitMs?: { p50: number; p99: number; max: number };
  /** p99 of the wait ÷ the wait in a perfect queue at the same rate. Absent when more than one in a hundred starved. */
  p99ToIdeal?: number;
  sections: number;
  /** Sections whose write another one undid: they were not alone. */
  lostUpdates: number;
  /** Waiters that got nothing in the whole window. */
  starved: number;
  errors: number;
  /** One of the errors. */
  error?: string;
}

/** `failure` says why one has no figures. */
export interface Turn {
  round: number;
  waiters: number;
  name: string;
  figures?: TurnFigures;
  failure?: string;
}

export interface BenchResults {
  format: 1;
  command: string;
  startedAt: string;
  durationMs: number;
  mode: 'locks' | 'http';
  environment: Results['environment'];
  settings: {
    rounds: number;
    seconds: number;
    waiters: number[];
    leaseMs: number;
    retryDelayMs: number;
    /** Of `http`: how many nodes sold, where that was asked for. */
    nodes?: number[];
    /** Of `http`: each lock was measured as connections and nodes grow. */
    grows?: boolean;
    /** What kept the CPUs awake. Null when they could sleep. */
    spinners: { count: number; priority: 'SCHED_IDLE' | 'nice 19' } | null;
  };
  /** `version` and `options` are those of a published lock. */
  contestants: (Pick<Contestant, 'name' | 'kind'> & { version?: string; options?: Record<string, string> })[];
  /** Every turn, in the order in which they were measured. */
  turns: Turn[];
  /** By their names, such as `cohort/ceiling@100`. What was not measured is absent. */
  ratios: Record<string, Spread>;
}
