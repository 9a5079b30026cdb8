// `results.json`: what a run writes down, as a schema. Others read it.

import { z } from 'zod';
import { exchangeSchema, serviceSchema } from './judgement.ts';
import { promisesSchema } from './promises.ts';

const count = z.int().min(0);
const milliseconds = z.number().min(0);

/**
 * `unknown`: the harness lost track or could not stage the fault, so nothing may be concluded. `not-applicable`: the servers
 * at hand can't carry the drill, or the stage has nothing that it could break.
 */
export const verdictSchema = z.enum(['pass', 'fail', 'unknown', 'not-applicable']);

/** The figures of one rush. A figure that could not be measured is absent. `docs/reference/formats.md` explains each. */
export const rushFiguresSchema = z.object({
  /** Requests that the harness sent. */
  sent: count,
  /** Requests that were answered, whatever the answer, and requests that were not. */
  answers: count,
  errors: count,
  /** Sale requests that the nodes counted. */
  received: count,
  sold: count,
  soldOut: count,
  lockTimeout: count,
  failed: count,
  /** Requests whose outcome is unknown: timed out, cut off, or answered with `definite: false`. */
  inDoubt: count,
  initialStock: count,
  /** `initialStock − sold`. Below zero when more was sold than there was. */
  expectedStock: z.int(),
  finalStock: z.int(),
  /** `finalStock − expectedStock`: sales whose write another sale undid. */
  lostUpdates: z.int(),
  /** `max(0, sold − initialStock)`. */
  oversold: count,
  /** Pairs of holders inside the critical section at the same moment. */
  overlaps: count.optional(),
  /** The longest time for which nobody held the lock although sales waited, without the time in which the machine stood still. */
  longestFreeMs: milliseconds.optional(),
  /** How often a sale without a lock began again, because another was quicker. Absent when none did. */
  conflicts: count.optional(),
  /** Sales per second, from the first request to the last answer. */
  throughput: z.number().min(0),
  /** Of successful sales, in milliseconds. Absent when nothing was sold. */
  latencyMs: z.object({ p50: milliseconds, p95: milliseconds, p99: milliseconds, max: milliseconds }).optional(),
  /** Commands Redis processed per sale request, those inside scripts included. */
  redisCommandsPerSale: z.number().min(0).optional(),
  /** How many of the sold units each node sold. */
  soldByNode: z.record(z.string(), count),
});

/** The figures of a drill that goes step by step, by their names: milliseconds where a name ends in `Ms`. */
export const stepFiguresSchema = z.record(z.string(), z.number());

/** Milliseconds since the drill began. */
const span = z.object({ fromMs: milliseconds, untilMs: milliseconds });

/** What happened in a drill that goes step by step, as it is drawn: the times are milliseconds since the drill began. */
export const timelineSchema = z.object({
  durationMs: milliseconds,
  /** A lane for each sale that asked for the lock, in the order of asking. A long list is cut; `moreLanes` is the rest. */
  lanes: z.array(
    z.object({
      node: z.string(),
      saleId: z.string(),
      askedMs: milliseconds,
      /** Absent when it never entered. */
      inside: span.optional(),
      read: z.object({ ms: milliseconds, stock: z.int() }).optional(),
      wrote: z.object({ ms: milliseconds, stock: z.int() }).optional(),
      /** When the node was done with it. Absent when it never was. */
      endedMs: milliseconds.optional(),
      /** When the lock's key was in Redis in its name, as the harness saw it there. */
      leases: z.array(span),
    }),
  ),
  moreLanes: count,
  /** What the drill did to break it. One that lasts has an end; one that hits a node, or one of its sales, names it. */
  faults: z.array(
    z.object({
      label: z.string(),
      fromMs: milliseconds,
      untilMs: milliseconds.optional(),
      node: z.string().optional(),
      saleId: z.string().optional(),
    }),
  ),
  /** When two of the lanes were inside at the same moment: their places in `lanes`. */
  overlaps: z.array(span.extend({ lanes: z.tuple([count, count]) })),
});

const drillResultSchema = z.object({
  drill: z.string(),
  verdict: verdictSchema,
  /** What the staircase says; null where it leaves the cell blank. */
  expected: z.enum(['pass', 'fail']).nullable(),
  /** Why the verdict is what it is: one sentence, or one for each thing that did not add up. */
  reasons: z.array(z.string()),
  figures: z.union([rushFiguresSchema, stepFiguresSchema]).optional(),
  /** Sentences that name who did what. A long list is cut; `evidenceCount` is its whole length. */
  evidence: z.array(z.string()),
  evidenceCount: count,
  /** Of a drill that goes step by step. */
  timeline: timelineSchema.optional(),
  /** Of a drill of the orders: what it emitted, with the milliseconds since it began. */
  told: z.array(z.object({ ms: milliseconds, sentence: z.string() })).optional(),
  /** Of a service that is judged by its wire: what passed there. A long list is cut. */
  wire: z.array(exchangeSchema).optional(),
  durationMs: milliseconds,
});

export const stageResultSchema = z.object({
  stage: z.string(),
  /** The number of a stage; null for a strategy beyond them. */
  lockVersion: count.nullable(),
  drills: z.array(drillResultSchema),
});

const findingSchema = z.object({
  /** Of a conformance check, of a scope of the search over every order of events, or of a drill. */
  name: z.string(),
  kind: z.enum(['check', 'order', 'drill']),
  /** What happened, or why nothing did. */
  says: z.string(),
  /** Where and with which faults it was looked at. */
  under: z.string(),
  /** The order of events that breaks it. */
  steps: z.array(z.string()),
});

/** What a grade comes to. `broken` begins with what is wrong first of all. */
export const answerSchema = z.object({
  verdict: z.enum(['holds', 'broken', 'unknown']),
  sentence: z.string(),
  /** How much was searched, and why not the rest: each reason once. */
  searched: z.string(),
  broken: z.array(findingSchema),
  holds: z.array(findingSchema),
  /** What it does not hold, and does not promise: `says` is why. */
  notPromised: z.array(findingSchema),
  /** What does not apply to it, or can't be played here: `says` is why, or what was measured. */
  doesNotApply: z.array(findingSchema),
  notLookedAt: z.array(findingSchema),
});

/** An external lock whose row was run. */
export const gradeSchema = z.object({
  stage: z.string(),
  /** Where its module is. */
  file: z.string(),
  /** Why it has no row: a clause. */
  problem: z.string().optional(),
  /** What the search over every order of events found, a scope each. Absent when it was not searched. */
  search: z
    .array(
      z.object({
        scope: z.string(),
        verdict: z.enum(['holds', 'fails', 'unknown']),
        reason: z.string(),
        under: z.string(),
        steps: z.array(z.string()),
      }),
    )
    .optional(),
  answer: answerSchema.optional(),
  /** What its module says that it promises beyond the contract. */
  promises: promisesSchema.optional(),
  /** Of a published lock: the options it was given, in words. */
  options: z.record(z.string(), z.string()).optional(),
  /** Why it need not hold what asks for more than it promises, by the name of the check or drill. */
  doesNotPromise: z.record(z.string(), z.string()).optional(),
});

/** What a run was made on. */
export const machineSchema = z.object({
  node: z.string(),
  os: z.string(),
  cpus: z.string(),
  commit: z.string(),
  /** How many processes wanted a CPU when it began: the load average of the last minute. */
  load: z.number().min(0),
});

/** `results.json`. Others read it: a change that breaks them gets a new `format`. */
export const resultsSchema = z.object({
  format: z.literal(3),
  command: z.string(),
  startedAt: z.iso.datetime(),
  durationMs: milliseconds,
  /** Of `npm run grade`: `broken`, `unknown` or `holds`, whichever is the worst of its locks. */
  verdict: z.enum(['as-expected', 'not-as-expected', 'unknown', 'broken', 'holds']),
  /** One sentence for each cell that is not as expected or unknown, and one when the run was cut short. */
  verdictReasons: z.array(z.string()),
  /** What was asked for and not run, as `stage drill`. */
  leftOut: z.array(z.string()),
  environment: machineSchema.extend({
    redis: z.object({ kind: z.enum(['external', 'native', 'embedded']), version: z.string() }),
    nginx: z.string(),
    /** How many nodes sold in the drills under load. */
    nodes: count.optional(),
    /** The versions of the servers beyond Redis, by backend, where a strategy of the run needed them. */
    backends: z.record(z.string(), z.string()).default({}),
  }),
  /** Of a run in the virtual world: the SHA-256 of all that happened, the same each time that these cells are played. */
  log: z.string().optional(),
  /** How the drills were set. `leaseMs` is that of the drills that go step by step. */
  settings: z.object({ requests: count, connections: count, stock: count, units: count, leaseMs: count }),
  stages: z.array(stageResultSchema),
  /** Of `npm run grade`. */
  grades: z.array(gradeSchema).optional(),
  /** Of `npm run judge`. */
  service: serviceSchema.optional(),
});

/** `judge.json`. Others read it: a change that breaks them gets a new `format`. */
export const judgementSchema = z.object({
  format: z.literal(1),
  ...resultsSchema.pick({
    command: true,
    startedAt: true,
    durationMs: true,
    leftOut: true,
    environment: true,
    settings: true,
  }).shape,
  /** `broken` when a drill fails, `unknown` when nothing fails and a drill came to nothing, else `holds`. */
  verdict: answerSchema.shape.verdict,
  sentence: z.string(),
  service: serviceSchema,
  drills: z.array(drillResultSchema),
});

export type Machine = z.infer<typeof machineSchema>;
export type Verdict = z.infer<typeof verdictSchema>;
export type RushFigures = z.infer<typeof rushFiguresSchema>;
export type StepFigures = z.infer<typeof stepFiguresSchema>;
export type Timeline = z.infer<typeof timelineSchema>;
export type DrillResult = z.infer<typeof drillResultSchema>;
export type StageResult = z.infer<typeof stageResultSchema>;
export type Answer = z.infer<typeof answerSchema>;
export type Grade = z.infer<typeof gradeSchema>;
export type Results = z.infer<typeof resultsSchema>;
export type Judgement = z.infer<typeof judgementSchema>;

/** The figures of a rush. Undefined for a drill of another kind, or when nothing was measured. */
export function rushFigures({ figures }: Pick<DrillResult, 'figures'>): RushFigures | undefined {
  return figures !== undefined && 'soldByNode' in figures ? (figures as RushFigures) : undefined;
}

/** The figures of a drill that goes step by step. Undefined for a rush, or when nothing was measured. */
export function stepFigures({ figures }: DrillResult): StepFigures | undefined {
  return figures !== undefined && !('soldByNode' in figures) ? (figures as StepFigures) : undefined;
}
