// What the clean-up of a node is told and what it tells. `docs/reference/http-api.md` explains each member; times are in milliseconds.

import { z } from 'zod';
import { count, leaseMs, lockGiven } from '../sale/contract.ts';
import { MAX_ORDERS } from './jobs/job.ts';

/** What one tick of the clean-up did. The counts are true however it ended, unless its node died. */
export const tickResultSchema = z.object({
  outcome: z.enum(['ran', 'skipped', 'failed']),
  node: z.string(),
  guard: z.string(),
  due: count,
  closed: count,
  restored: count,
  ms: count,
  code: z.string().optional(),
  detail: z.string().optional(),
});

/** When a job runs by itself: one of the three, or never. Milliseconds. */
export const jobScheduleSchema = z
  .strictObject({
    cron: z.string().optional(),
    /** Whether a tick that is due begins while the last one is under way. */
    overlap: z.boolean().optional(),
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
  );

/** The clean-up of a node, as `GET /jobs/cleanup` shows it. */
export const jobStateSchema = z.object({
  node: z.string(),
  guard: z.string(),
  leaseMs: count,
  minHoldMs: count,
  schedule: jobScheduleSchema,
  running: count,
  held: count,
  /** The latest ticks of the schedule, the last one last: when each was due, and when it began, in milliseconds since 1970. */
  scheduled: z.array(z.object({ dueAt: count, beganAt: count })),
});

export const jobChangeSchema = z.strictObject({
  /** The guard and its timing, in milliseconds. What is left out is as the node was started. */
  guard: z.strictObject({ lock: lockGiven, leaseMs, minHoldMs: z.int().min(0).max(3_600_000).optional() }).optional(),
  schedule: jobScheduleSchema.optional(),
  /** Where the next tick is held until resumed. */
  script: z
    .strictObject({
      after: z.enum(['read', 'restored', 'closed'], 'must be one of read, restored, closed'),
      orders: z.int().min(1).max(MAX_ORDERS).default(1),
    })
    .optional(),
});

/** What the second job is told: how it computes, and for how long, in milliseconds. */
export const reportOrderSchema = z.strictObject({
  way: z.enum(['busy', 'in-slices'], 'must be one of busy, in-slices'),
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
