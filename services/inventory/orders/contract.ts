// What the clean-up of a node is told and what it tells. `docs/reference/admin-api.md` is made of it. Times are in milliseconds.

import { z } from 'zod';
import { count, leaseMs, lockGiven } from '../sale/contract.ts';
import { MAX_ORDERS } from './jobs/job.ts';

/** What one tick of the clean-up did. The counts are true however it ended, unless its node died. */
export const tickResultSchema = z.object({
  outcome: z.enum(['ran', 'skipped', 'failed']).describe('`skipped`: another run was under way.'),
  node: z.string(),
  guard: z.string().describe('The protection against duplicate runs.'),
  due: count.describe('Orders that were due.'),
  closed: count.describe('Orders that it closed.'),
  restored: count.describe('Units that it put back into the stock.'),
  ms: count,
  code: z.string().optional().describe('With `failed`.'),
  detail: z.string().optional(),
});

/** When a job runs by itself: one of the three, or never. Milliseconds. */
export const jobScheduleSchema = z
  .strictObject({
    cron: z.string().optional(),
    overlap: z.boolean().optional().describe('A run may begin while the last one is under way.'),
    fixedRateMs: z.int().min(10).max(86_400_000).optional(),
    fixedDelayMs: z.int().min(10).max(86_400_000).optional(),
  })
  .refine(
    ({ overlap, ...given }) => Object.keys(given).length <= 1,
    'must be one of cron, fixedRateMs and fixedDelayMs',
  )
  .refine(
    ({ overlap, cron }) => !overlap || cron !== undefined,
    'overlap goes with cron: the others have one tick at a time',
  )
  .meta({ id: 'JobSchedule' });

/** The clean-up of a node, as `GET /jobs/cleanup` shows it. */
export const jobStateSchema = z.object({
  node: z.string(),
  guard: z.string(),
  leaseMs: count,
  minHoldMs: count,
  schedule: jobScheduleSchema,
  running: count.describe('Runs under way.'),
  held: count.describe('Runs that a script holds until `PUT /resume`.'),
  scheduled: z
    .array(z.object({ dueAt: count, beganAt: count }))
    .describe('The latest scheduled runs, in milliseconds since 1970.'),
});

export const jobChangeSchema = z.strictObject({
  guard: z
    .strictObject({ lock: lockGiven, leaseMs, minHoldMs: z.int().min(0).max(3_600_000).optional() })
    .optional()
    .describe('As in JOB_LOCK. What is left out is as the node was started.'),
  schedule: jobScheduleSchema.optional().describe('One of the three, or {} for none.'),
  script: z
    .strictObject({
      after: z.enum(['read', 'restored', 'closed'], 'must be one of read, restored, closed'),
      orders: z.int().min(1).max(MAX_ORDERS).default(1),
    })
    .optional()
    .describe('Holds the next run after so many orders, until `PUT /resume`.'),
});

/** What the second job is told: how it computes, and for how long, in milliseconds. */
export const reportOrderSchema = z.strictObject({
  way: z.enum(['busy', 'in-slices'], 'must be one of busy, in-slices').describe('`busy` blocks the event loop.'),
  ms: z.int().min(1).max(60_000),
});

export type ReportOrder = z.output<typeof reportOrderSchema>;
export type JobSchedule = z.output<typeof jobScheduleSchema>;
export type TickResult = z.output<typeof tickResultSchema>;
export type JobState = z.output<typeof jobStateSchema>;
export type ScheduledTick = JobState['scheduled'][number];
/** The form in which it is sent: what has a default may be left out. */
export type JobChange = z.input<typeof jobChangeSchema>;
export type GuardTiming = Omit<NonNullable<JobChange['guard']>, 'lock'>;
export type TickScript = NonNullable<JobChange['script']>;
