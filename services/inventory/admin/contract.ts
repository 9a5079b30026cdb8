// What the lab listener is asked and what it answers: the one definition, for the listener and for the harness.
// `docs/http-api.md` explains each member; times and leases are in milliseconds.

import { z } from 'zod';
import { MAX_ORDERS } from '../orders/jobs/job.ts';
import { skuSchema } from '../sale/sku.ts';
import { LONGEST_WAIT_TIMEOUT_MS } from '../settings/limits.ts';

const count = z.int().min(0);
const leaseMs = z.int().min(30).max(3_600_000).optional();
/** A lock by its number or by its name. Which names there are is for each node to say. */
const lock = z.union([z.string(), z.int().transform(String)]);

export const nothing = z.strictObject({}, 'must be {}');

export const nodeStateSchema = z.object({
  node: z.string(),
  port: count,
  pid: count,
  instance: z.string(),
  lock: z.string(),
  leaseMs: count,
  retryDelayMs: count,
  waitTimeoutMs: count,
  inFlight: count,
  held: count,
  waiting: count,
  unreleased: count,
  /** How the sale requests ended. The outcomes add up to `received` while none is in flight. */
  counts: z.record(z.enum(['received', 'sold', 'soldOut', 'lockTimeout', 'clientGone', 'failed', 'inDoubt']), count),
});

export const shownStateSchema = nodeStateSchema.extend({
  /** The requests that have an order or an idempotency key, until their work has ended: also when the client has hung up. */
  answering: count,
  /** When the process came late to its own timers although it had nothing to do, on the clock of the events. */
  standstills: z.array(z.object({ from: z.number(), until: z.number(), ms: z.number() })),
});

/** A lock and its timing, in milliseconds. What is left out is as the node was started. */
export const lockChangeSchema = z.strictObject({
  version: lock,
  leaseMs,
  retryDelayMs: z.int().min(0).max(250).optional(),
  waitTimeoutMs: z.int().min(1).max(LONGEST_WAIT_TIMEOUT_MS).optional(),
});

export const stockSchema = z.strictObject({ sku: skuSchema.default('001'), stock: z.int().min(0) });

/** What `GET /stock` answers, and `GET /inventory` of the public listener. */
export const remainingSchema = z.object({ sku: z.string(), remaining: z.int() });

/** What the next sales do between read and write, and behind it: the steps in this order. */
export const saleScriptSchema = z.strictObject({
  beforeNestedCall: z.boolean().optional(),
  nestedCall: z.union([z.boolean(), z.literal('another object')]).optional(),
  pauseMs: z.int().min(0).max(600_000).optional(),
  untilResumed: z.boolean().optional(),
  blockMs: z.int().min(0).max(60_000).optional(),
  beforeOrder: z.boolean().optional(),
  beforeAnswer: z.boolean().optional(),
  times: z.int().min(1).max(1_000_000).optional(),
});

export const saleEventSchema = z.object({
  /** Milliseconds on the monotonic clock that all processes of this host share. */
  at: z.number(),
  type: z.enum(['waiting', 'entered', 'began', 'nested', 'read', 'conflict', 'wrote', 'left', 'failed', 'lease-lost']),
  node: z.string(),
  saleId: z.string(),
  requestId: z.string().optional(),
  stock: z.int().optional(),
  /** Which bucket of the stock, from 0, where it lies in several. */
  bucket: z.int().optional(),
  fencingToken: z.string().optional(),
  code: z.string().optional(),
  detail: z.string().optional(),
});

export const historySchema = z.object({ events: z.array(saleEventSchema), dropped: count });

/** One line of `GET /events`. */
export const pushSchema = z.object({
  /** When it was written, on the clock of the events. */
  at: z.number(),
  events: z.array(saleEventSchema),
  dropped: count,
  cleared: z.boolean(),
  state: nodeStateSchema.optional(),
});

export const heapSchema = z.object({ usedBytes: count });

export const redisSchema = z.object({
  version: z.string(),
  server: z.string(),
  masters: count,
  commandsProcessed: count,
  lacks: z.record(z.string(), z.string()),
});

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
    fixedRateMs: z.int().min(10).max(86_400_000).optional(),
    fixedDelayMs: z.int().min(10).max(86_400_000).optional(),
  })
  .refine((given) => Object.keys(given).length <= 1, 'must be one of cron, fixedRateMs and fixedDelayMs');

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
  guard: z.strictObject({ lock, leaseMs, minHoldMs: z.int().min(0).max(3_600_000).optional() }).optional(),
  schedule: jobScheduleSchema.optional(),
  /** Where the next tick is held until resumed. */
  script: z
    .strictObject({
      after: z.enum(['read', 'restored', 'closed'], 'must be one of read, restored, closed'),
      orders: z.int().min(1).max(MAX_ORDERS).default(1),
    })
    .optional(),
});

export type SaleCounts = NodeState['counts'];
export type JobSchedule = z.output<typeof jobScheduleSchema>;
export type NodeState = z.output<typeof nodeStateSchema>;
export type ShownState = z.output<typeof shownStateSchema>;
export type Standstill = ShownState['standstills'][number];
export type LockTiming = Omit<z.output<typeof lockChangeSchema>, 'version'>;
export type SaleScript = z.output<typeof saleScriptSchema>;
export type SaleEvent = z.output<typeof saleEventSchema>;
export type Push = z.output<typeof pushSchema>;
export type RedisState = z.output<typeof redisSchema>;
export type TickResult = z.output<typeof tickResultSchema>;
export type JobState = z.output<typeof jobStateSchema>;
export type ScheduledTick = JobState['scheduled'][number];
/** The form in which it is sent: what has a default may be left out. */
export type JobChange = z.input<typeof jobChangeSchema>;
export type GuardTiming = Omit<NonNullable<JobChange['guard']>, 'lock'>;
export type TickScript = NonNullable<JobChange['script']>;
