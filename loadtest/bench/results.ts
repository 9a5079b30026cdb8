// The schema of `bench.json`, the results of a bench. Other programs read it: a breaking change gets a new `format`.

import { z } from 'zod';
import { resultsSchema } from '../evidence/results.ts';

const count = z.int().min(0);
const figure = z.number().min(0);

/** A figure over the rounds. */
const spreadSchema = z.object({
  value: z.number().describe('The median.'),
  min: z.number(),
  max: z.number(),
});

const cpuTimeSchema = z.object({
  processes: z.number().optional(),
  nginx: z.number().optional(),
  redis: z.number().optional(),
});

/** The figures of one turn. `docs/explanation/benchmarks.md` explains each. */
const turnFiguresSchema = z.object({
  perSecond: figure.describe('Acquisitions, or sales.'),
  commandsPerAcquisition: figure.optional().describe('Redis commands. Absent when nothing was acquired.'),
  cpuMicros: cpuTimeSchema.describe('CPU time of each part per acquisition. With `http` the processes are the nodes.'),
  waitMs: z.object({ p50: figure, p99: figure, max: figure }).optional(),
  p99ToIdeal: figure
    .optional()
    .describe('p99 of the wait ÷ the wait in a perfect queue. Absent when more than 1 % of the waiters starved.'),
  sections: count.describe('Critical sections that ended.'),
  lostUpdates: z.int().describe('Sections whose write was overwritten by another one.'),
  starved: count.describe('Waiters that never got in.'),
  errors: count,
  error: z.string().optional().describe('One of the errors.'),
});

const turnSchema = z.object({
  round: count,
  waiters: count,
  name: z.string(),
  figures: turnFiguresSchema.optional(),
  failure: z.string().optional().describe('The reason why there are no figures.'),
});

export const benchSchema = z.object({
  format: z.literal(1),
  command: z.string().describe('The command that repeats it.'),
  startedAt: z.iso.datetime(),
  durationMs: figure,
  mode: z.enum(['locks', 'http']),
  environment: resultsSchema.shape.environment,
  settings: z.object({
    rounds: count,
    seconds: figure,
    waiters: z.array(count),
    leaseMs: count,
    retryDelayMs: count,
    nodes: z.array(count).optional().describe('With --nodes.'),
    grows: z.boolean().optional().describe('With --grow.'),
    spinners: z
      .object({ count, priority: z.enum(['SCHED_IDLE', 'nice 19']) })
      .nullable()
      .describe('What kept the CPUs awake; null when they could sleep.'),
  }),
  contestants: z
    .array(
      z.object({
        name: z.string(),
        kind: z.enum(['ours', 'peer', 'ceiling']),
        version: z.string().optional(),
        options: z.record(z.string(), z.string()).optional(),
      }),
    )
    .describe('What was measured. Published locks have a version and options.'),
  turns: z.array(turnSchema).describe('Every measurement, in order.'),
  ratios: z
    .record(z.string(), spreadSchema)
    .describe('By name, such as `cohort/ceiling@100`: `value` (the median), `min`, `max`.'),
});

export type Spread = z.infer<typeof spreadSchema>;
export type TurnFigures = z.infer<typeof turnFiguresSchema>;
export type Turn = z.infer<typeof turnSchema>;
export type BenchResults = z.infer<typeof benchSchema>;
