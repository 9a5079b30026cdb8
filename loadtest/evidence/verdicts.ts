// `docs/measured/verdicts.json`: what was recorded of the published locks, as a schema. The pages are made of it.

import { z } from 'zod';
import { promisesSchema } from './promises.ts';
import { proofCellSchema } from './proof.ts';
import { drillResultSchema, resultsSchema } from './results.ts';

const perSecond = z.number().min(0);

/** Redis commands, over all servers that the lock asks. */
export const commandsSchema = z.object({
  leaseMs: z.int().min(0),
  /** A second, while one holds and nobody waits. */
  held: perSecond,
  /** A second, while one holds and another waits. */
  waiting: perSecond,
  /** In the second after its release. */
  afterRelease: perSecond,
  /** For each of so many acquisitions that wait for one another. Absent when they did not all come to their turn. */
  queue: z.object({ waiters: z.int(), commandsEach: z.number().min(0) }).optional(),
});

/** What was recorded of one published lock. */
export const recordSchema = z.object({
  /** The name of its adapter, and of its page. */
  name: z.string(),
  /** What npm calls it, and which of its locks it is. */
  library: z.string(),
  version: z.string(),
  lock: z.string().optional(),
  /** Its row in a report. */
  stage: z.string(),
  recordedAt: z.iso.datetime(),
  environment: resultsSchema.shape.environment,
  settings: resultsSchema.shape.settings,
  claims: z.array(z.object({ quote: z.string(), source: z.url() })),
  promises: promisesSchema,
  options: z.record(z.string(), z.string()),
  doesNotPromise: z.record(z.string(), z.string()),
  /** Where its source says why it does what a cell shows: a sentence for each such cell. */
  because: z.record(z.string(), z.string()),
  /** Its row, in the order of the columns. What holds has no timeline. */
  drills: z.array(drillResultSchema),
  /** Drills that were run again with other leases. */
  otherLeases: z.array(z.object({ leaseMs: z.int(), drill: drillResultSchema })),
  commands: z.array(commandsSchema),
  /** What the search over every order found; `problem` says why it can't look at this lock. */
  search: z.object({ server: z.string(), cells: z.array(proofCellSchema), problem: z.string().optional() }),
});

export const verdictsSchema = z.object({
  format: z.literal(1),
  /** In the order of the pages. */
  locks: z.array(recordSchema),
});

export type Commands = z.infer<typeof commandsSchema>;
export type LockRecord = z.infer<typeof recordSchema>;
export type Verdicts = z.infer<typeof verdictsSchema>;
