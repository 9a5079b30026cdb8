// The cleanup job in the admin API. `docs/reference/admin-api.md` is generated from it. Times are in milliseconds.

import { z } from 'zod';
import { count, leaseMs, lockGiven } from '../sale/contract.ts';
import { MAX_ORDERS } from './jobs/job.ts';

/** The result of one cleanup run. The counts are correct however it ended, unless its node died. */
export const tickResultSchema = z.object({
  outcome: z.enum(['ran', 'skipped', 'failed']).describe('`skipped`: another run was in progress.'),
  node: z.string(),
  guard: z.string().describe('The protection against duplicate runs.'),
  due: count.describe('Orders that were due.'),
  closed: count.describe('Orders that the run closed.'),
  restored: count.describe('Units that the run returned to stock.'),
  ms: count,
  code: z.string().optional().describe('With `failed`.'),
  detail: z.string().optional(),
});

/** A job's schedule: one of the three, or none. Milliseconds. */
export const jobScheduleSchema = z
  .strictObject({
    cron: z.string().optional(),
    overlap: z.boolean().optional().describe('Whether a run may start while the previous one is in progress.'),
    fixedRateMs: z.int().min(10).max(86_400_000).optional(),
    fixedDelayMs: z.int().min(10).max(86_400_000).optional(),
  })
  .refine(
    ({ overlap, ...given }) => Object.keys(given).length <= 1,
    'must be one of cron, fixedRateMs and fixedDelayMs',
  )
  .refine(
    ({ overlap, cron }) => !overlap || cron !== undefined,
    'overlap needs cron: the other schedules have one run at a time',
  )
  .meta({ id: 'JobSchedule' });

/** A node's cleanup job, as in `GET /jobs/cleanup`. */
export const jobStateSchema = z.object({
  node: z.string(),
  guard: z.string(),
  leaseMs: count,
  minHoldMs: count,
  schedule: jobScheduleSchema,
  running: count.describe('Runs in progress.'),
  held: count.describe('Runs that a script holds until `PUT /resume`.'),
  scheduled: z
    .array(z.object({ dueAt: count, beganAt: count }))
    .describe('The latest scheduled runs, in milliseconds since 1970.'),
});

export const jobChangeSchema = z.strictObject({
  guard: z
    .strictObject({ lock: lockGiven, leaseMs, minHoldMs: z.int().min(0).max(3_600_000).optional() })
    .optional()
    .describe('As in JOB_LOCK. Omitted values are those that the node was started with.'),
  schedule: jobScheduleSchema.optional().describe('One of the three, or {} for no schedule.'),
  script: z
    .strictObject({
      after: z.enum(['read', 'restored', 'closed'], 'must be one of read, restored, closed'),
      orders: z.int().min(1).max(MAX_ORDERS).default(1),
    })
    .optional()
    .describe('Holds the next run after this many orders, until `PUT /resume`.'),
});

/** The request to the second job: how it computes, and for how long, in milliseconds. */
export const reportOrderSchema = z.strictObject({
  way: z.enum(['busy', 'in-slices'], 'must be one of busy, in-slices').describe('`busy` blocks the event loop.'),
  ms: z.int().min(1).max(60_000),
});

export type ReportOrder = z.output<typeof reportOrderSchema>;
export type JobSchedule = z.output<typeof jobScheduleSchema>;
export type TickResult = z.output<typeof tickResultSchema>;
export type JobState = z.output<typeof jobStateSchema>;
export type ScheduledTick = JobState['scheduled'][number];
/** The request as sent: members with a default may be omitted. */
export type JobChange = z.input<typeof jobChangeSchema>;
export type GuardTiming = Omit<NonNullable<JobChange['guard']>, 'lock'>;
export type TickScript = NonNullable<JobChange['script']>;
