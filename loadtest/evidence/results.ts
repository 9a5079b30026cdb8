// The schema of `results.json`, the results of a run.

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

/** The figures of a rush. A figure that could not be measured is absent. */
export const rushFiguresSchema = z
  .object({
    sent: count.describe('Requests that the harness sent.'),
    answers: count.describe('Requests with a response.'),
    errors: count.describe('Requests without a response.'),
    received: count.describe('Sale requests that the nodes counted.'),
    sold: count,
    soldOut: count,
    lockTimeout: count,
    failed: count,
    inDoubt: count.describe('Requests with an unknown outcome: no response, or `definite: false`.'),
    initialStock: count,
    expectedStock: z.int().describe('`initialStock − sold`.'),
    finalStock: z.int(),
    lostUpdates: z.int().describe('Units sold twice: `finalStock − expectedStock`.'),
    oversold: count.describe('Units sold beyond the stock.'),
    overlaps: count.optional().describe('Pairs of holders inside at the same moment.'),
    longestFreeMs: milliseconds.optional().describe('The longest time without a holder while sales were waiting.'),
    conflicts: count.optional().describe('Writes that lost against another writer, so the sale tried again.'),
    throughput: z.number().min(0).describe('Sales per second, from the first request to the last response.'),
    latencyMs: z
      .object({ p50: milliseconds, p95: milliseconds, p99: milliseconds, max: milliseconds })
      .optional()
      .describe('Of successful sales, by nearest rank.'),
    redisCommandsPerSale: z
      .number()
      .min(0)
      .optional()
      .describe('Redis commands per request, including those inside scripts.'),
    soldByNode: z.record(z.string(), count).describe('Units that each node sold.'),
  })
  .meta({ id: 'RushFigures' });

/** The figures of a step-by-step drill by name: milliseconds if the name ends in `Ms`. */
export const stepFiguresSchema = z.record(z.string(), z.number());

/** Milliseconds since the drill began. */
const span = z.object({ fromMs: milliseconds, untilMs: milliseconds });

/** The timeline of a step-by-step drill, in milliseconds since the drill began. */
export const timelineSchema = z
  .object({
    durationMs: milliseconds,
    lanes: z
      .array(
        z.object({
          node: z.string(),
          saleId: z.string(),
          askedMs: milliseconds,
          inside: span.optional().describe('Absent when it never entered.'),
          read: z.object({ ms: milliseconds, stock: z.int() }).optional(),
          wrote: z.object({ ms: milliseconds, stock: z.int() }).optional(),
          endedMs: milliseconds.optional().describe('Absent when the sale never ended.'),
          leases: z.array(span).describe("When Redis held the lock's key for this sale."),
        }),
      )
      .describe('A lane for each sale that tried to acquire the lock, in this order. `moreLanes` more are not shown.'),
    moreLanes: count,
    faults: z
      .array(
        z.object({
          label: z.string(),
          fromMs: milliseconds,
          untilMs: milliseconds.optional(),
          node: z.string().optional(),
          saleId: z.string().optional(),
        }),
      )
      .describe('The faults of the drill.'),
    overlaps: z
      .array(span.extend({ lanes: z.tuple([count, count]) }))
      .describe('When two lanes were inside at the same moment.'),
  })
  .meta({ id: 'Timeline', description: 'In milliseconds since the drill began.' });

export const drillResultSchema = z
  .object({
    drill: z.string(),
    verdict: verdictSchema,
    expected: z.enum(['pass', 'fail']).nullable().describe('null if nothing is expected.'),
    reasons: z.array(z.string()).describe('The reasons for the verdict.'),
    figures: z.union([rushFiguresSchema, stepFiguresSchema]).optional(),
    evidence: z.array(z.string()).describe('Sentences that name the sales, up to ten of `evidenceCount`.'),
    evidenceCount: count,
    timeline: timelineSchema.optional().describe('Of a step-by-step drill.'),
    told: z
      .array(z.object({ ms: milliseconds, sentence: z.string() }))
      .optional()
      .describe('Of a drill of the orders: its steps.'),
    wire: z.array(exchangeSchema).optional().describe('Of a judged service: its traffic, 300 commands at most.'),
    durationMs: milliseconds,
  })
  .meta({ id: 'DrillResult' });

export const stageResultSchema = z.object({
  stage: z.string(),
  lockVersion: count.nullable().describe('null beyond the stages.'),
  drills: z.array(drillResultSchema),
});

export const findingSchema = z
  .object({
    name: z.string().describe('A check, a fault model, or a drill.'),
    kind: z.enum(['check', 'order', 'drill']),
    says: z.string().describe('What happened.'),
    under: z.string().describe('Where it was tested, and with which faults.'),
    steps: z.array(z.string()).describe('The interleaving that breaks it.'),
  })
  .meta({ id: 'Finding' });

/** The result of a grade. `broken` starts with the most important failure. */
export const answerSchema = z
  .object({
    verdict: z.enum(['holds', 'broken', 'unknown']),
    sentence: z.string().describe('The first failure, or that there is none.'),
    searched: z.string().describe('How much was checked, and why not the rest.'),
    broken: z.array(findingSchema),
    holds: z.array(findingSchema),
    notPromised: z.array(findingSchema).describe('Failures that the lock does not promise to prevent.'),
    doesNotApply: z.array(findingSchema).describe('Checks that are not applicable.'),
    notLookedAt: z.array(findingSchema),
  })
  .meta({ id: 'Answer' });

/** An external lock that was run. */
export const gradeSchema = z.object({
  stage: z.string(),
  file: z.string().describe('Its module.'),
  problem: z.string().optional().describe('Why the lock could not be graded.'),
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
    .optional()
    .describe('What the model checker found in each fault model.'),
  answer: answerSchema.optional(),
  promises: promisesSchema.optional().describe('The `promises` of its module.'),
  options: z.record(z.string(), z.string()).optional().describe('Of a published lock.'),
  doesNotPromise: z.record(z.string(), z.string()).optional().describe('Why it may fail a check or drill, by name.'),
});

/** The environment of a run. */
export const machineSchema = z.object({
  node: z.string(),
  os: z.string(),
  cpus: z.string(),
  commit: z.string(),
  load: z.number().min(0).describe('Load average at the start.'),
});

/** `results.json`. Other programs read it: a breaking change gets a new `format`. */
export const resultsSchema = z.object({
  format: z.literal(3),
  command: z.string(),
  startedAt: z.iso.datetime(),
  durationMs: milliseconds,
  verdict: z
    .enum(['as-expected', 'not-as-expected', 'unknown', 'broken', 'holds'])
    .describe('With `grade`: the worst verdict of its locks.'),
  verdictReasons: z.array(z.string()).describe('A sentence for each cell that decided it.'),
  leftOut: z.array(z.string()).describe('Cells that were not run, as `stage drill`.'),
  environment: machineSchema
    .extend({
      redis: z.object({ kind: z.enum(['external', 'native', 'embedded']), version: z.string() }),
      nginx: z.string(),
      nodes: count.optional().describe('Nodes in the drills under load.'),
      backends: z.record(z.string(), z.string()).default({}).describe('Versions of other servers.'),
    })
    .meta({ id: 'Environment' }),
  log: z.string().optional().describe('With a simulated run: the SHA-256 of everything that happened.'),
  settings: z
    .object({ requests: count, connections: count, stock: count, units: count, leaseMs: count })
    .describe('`leaseMs` is the lease of the step-by-step drills.'),
  stages: z.array(stageResultSchema),
  grades: z.array(gradeSchema).optional().describe('Of `grade`.'),
  service: serviceSchema.optional().describe('Of `judge`.'),
});

/** `judge.json`. Other programs read it: a breaking change gets a new `format`. */
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
  verdict: answerSchema.shape.verdict.describe(
    '`broken`: a drill that counts fails. `unknown`: none fails, and at least one is unknown.',
  ),
  sentence: z.string(),
  service: serviceSchema,
  drills: z.array(drillResultSchema),
});

export type Machine = z.infer<typeof machineSchema>;
export type Verdict = z.infer<typeof verdictSchema>;
export type RushFigures = z.infer<typeof rushFiguresSchema>;
export type StepFigures = z.infer<typeof stepFiguresSchema>;
export type Timeline = z.infer<typeof timelineSchema>;
/** What a sentence says: its form, and the values that fill it. */
interface Fact {
  form: string;
  values: object;
}
/** What the sentences of a result say, of which each language makes its own. They are in no file, and loadtest/narration has their forms. */
export interface Facts {
  says: Fact[];
  seen: Fact[];
  /** In the order of the faults in the timeline. */
  deeds: Fact[];
  told: Fact[];
}
export type DrillResult = z.infer<typeof drillResultSchema> & { facts?: Facts };
export type StageResult = Omit<z.infer<typeof stageResultSchema>, 'drills'> & { drills: DrillResult[] };
export type Answer = z.infer<typeof answerSchema>;
/** `said`: its answer in the language that is spoken, which is in no file. */
export type Grade = z.infer<typeof gradeSchema> & { said?: Answer };
/** As `results.json` has them. */
export type WrittenResults = z.infer<typeof resultsSchema>;
export type Results = Omit<WrittenResults, 'stages' | 'grades'> & {
  stages: StageResult[];
  grades?: Grade[] | undefined;
};
export type Judgement = z.infer<typeof judgementSchema>;

/** The figures of a rush. Undefined for another kind of drill, or when nothing was measured. */
export function rushFigures({ figures }: Pick<DrillResult, 'figures'>): RushFigures | undefined {
  return figures !== undefined && 'soldByNode' in figures ? (figures as RushFigures) : undefined;
}

/** The figures of a step-by-step drill. Undefined for a rush, or when nothing was measured. */
export function stepFigures({ figures }: DrillResult): StepFigures | undefined {
  return figures !== undefined && !('soldByNode' in figures) ? (figures as StepFigures) : undefined;
}
