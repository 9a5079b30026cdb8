// `bench.json`: what a bench writes down.

import { z } from 'zod';
import { resultsSchema } from '../evidence/results.ts';

const count = z.int().min(0);
const number = z.number().min(0);
/** A figure over the rounds: the median, the lowest and the highest. */
const spreadSchema = z.object({ value: z.number(), min: z.number(), max: z.number() });

/** The figures of one turn. `docs/bench.md` explains each. */
const turnFiguresSchema = z.object({
  perSecond: number,
  /** Absent when nothing was acquired. */
  commandsPerAcquisition: number.optional(),
  /**
   * CPU time per acquisition, in microseconds: of the processes that wait and hold (with `http` of the two nodes), of nginx, of all Redis
   * servers, and of their main threads alone. A part that could not be measured is absent.
   */
  cpuMicros: z
    .object({
      processes: number.optional(),
      nginx: number.optional(),
      redis: number.optional(),
      redisMainThread: number.optional(),
    })
    .optional(),
  waitMs: z.object({ p50: number, p99: number, max: number }).optional(),
  /** p99 of the wait ÷ the wait in a perfect queue at the same rate. Absent when more than one in a hundred starved. */
  p99ToIdeal: number.optional(),
  sections: count,
  /** Sections whose write another one undid: they were not alone. */
  lostUpdates: count,
  /** Waiters that got nothing in the whole window. */
  starved: count,
  errors: count,
  /** One of the errors. */
  error: z.string().optional(),
});

/** `bench.json`. Others read it: a change that breaks them gets a new `format`. */
export const benchSchema = z.object({
  format: z.literal(1),
  command: z.string(),
  startedAt: z.iso.datetime(),
  durationMs: number,
  mode: z.enum(['locks', 'http']),
  environment: resultsSchema.shape.environment,
  settings: z.object({
    rounds: count,
    seconds: number,
    waiters: z.array(count),
    leaseMs: count,
    retryDelayMs: count,
    /** What kept the CPUs awake. Null when they could sleep, as in runs from before there were any. */
    spinners: z
      .object({ count, priority: z.enum(['SCHED_IDLE', 'nice 19']) })
      .nullable()
      .default(null),
  }),
  contestants: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['ours', 'peer', 'ceiling']),
      /** Of a published lock. */
      version: z.string().optional(),
      options: z.record(z.string(), z.string()).optional(),
    }),
  ),
  /** Every turn, in the order in which they were measured. `failure` says why one has no figures. */
  turns: z.array(
    z.object({
      round: count,
      waiters: count,
      name: z.string(),
      figures: turnFiguresSchema.optional(),
      failure: z.string().optional(),
    }),
  ),
  /** By their names, such as `cohort/ceiling@100`. What was not measured is absent. */
  ratios: z.record(z.string(), spreadSchema),
});

export type Spread = z.infer<typeof spreadSchema>;
export type TurnFigures = z.infer<typeof turnFiguresSchema>;
export type BenchResults = z.infer<typeof benchSchema>;
export type Turn = BenchResults['turns'][number];
