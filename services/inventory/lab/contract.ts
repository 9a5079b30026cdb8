// What the lab listener is asked and what it answers: the one definition, for the listener and for the harness.
// `docs/http-api.md` explains each member.

import { z } from 'zod';
import { MAX_ORDERS } from '../orders/jobs/job.ts';
import { skuSchema } from '../sku.ts';

const count = z.int().min(0);
const leaseMs = z.int().min(30).max(3_600_000).optional();
/** A lock by its number or by its name. Which names there are is for each node to say. */
const lock = z.union([z.string(), z.int().transform(String)]);

export const nothing = z.strictObject({}, 'must be {}');

/** How the sale requests of a node ended. The outcomes add up to `received` while none is in flight. */
export const saleCountsSchema = z.object({
  received: count,
  sold: count,
  soldOut: count,
  lockTimeout: count,
  clientGone: count,
  failed: count,
  inDoubt: count,
});

/** When the process of a node came late to its own timers although it had nothing to do, on the clock of the events. */
export const standstillSchema = z.object({
  from: z.number(),
  until: z.number(),
  /** For how long it came to nothing meanwhile, in milliseconds. */
  ms: z.number(),
});

/** A node, as those who follow it see it. */
export const nodeStateSchema = z.object({
  node: z.string(),
  port: count,
  /** Its process. */
  pid: count,
  instance: z.string(),
  lock: z.string(),
  leaseMs: count,
  retryDelayMs: count,
  waitTimeoutMs: count,
  inFlight: count,
  /** Of those in flight: how many a script holds until they are resumed. */
  held: count,
  waiting: count,
  unreleased: count,
  counts: saleCountsSchema,
});

/** A node, as `GET /state` shows it. */
export const shownStateSchema = nodeStateSchema.extend({
  /** The latest ones, oldest first. */
  standstills: z.array(standstillSchema),
});

/** Of a lock, in milliseconds. What is left out is as the node was started. */
export const lockTimingSchema = z.strictObject({
  leaseMs,
  retryDelayMs: z.int().min(0).max(250).optional(),
  waitTimeoutMs: z.int().min(1).max(600_000).optional(),
});

export const lockChangeSchema = lockTimingSchema.extend({ version: lock });

export const stockSchema = z.strictObject({ sku: skuSchema.default('001'), stock: z.int().min(0) });

/** What `GET /stock` answers, and `GET /inventory` of the public listener. */
export const remainingSchema = z.object({ sku: z.string(), remaining: z.int() });

/** What the next sales do between read and write, and behind it: the steps in this order. */
export const saleScriptSchema = z.strictObject({
  /** Hold before the nested call until resumed. */
  beforeNestedCall: z.boolean().optional(),
  /** Ask for the same lock again, by the same lock object or by another one of the same request, then give it up again. */
  nestedCall: z.union([z.boolean(), z.literal('another object')]).optional(),
  /** Hold inside for so many milliseconds. */
  pauseMs: z.int().min(0).max(600_000).optional(),
  /** Hold inside until resumed. */
  untilResumed: z.boolean().optional(),
  /** Block the event loop for so many milliseconds, as a computation does that never yields: the node answers nothing. */
  blockMs: z.int().min(0).max(60_000).optional(),
  /** Hold between the stock and the order, outside the lock, until resumed. */
  beforeOrder: z.boolean().optional(),
  /** Hold behind the order, before the answer, until resumed. */
  beforeAnswer: z.boolean().optional(),
  /** How many sales follow the script; 1 when it is not given. */
  times: z.int().min(1).max(1_000_000).optional(),
});

/** What happened to one sale, and when. */
export const saleEventSchema = z.object({
  /** Milliseconds on the monotonic clock that all processes of this host share. */
  at: z.number(),
  type: z.enum(['waiting', 'entered', 'began', 'nested', 'read', 'conflict', 'wrote', 'left', 'failed', 'lease-lost']),
  node: z.string(),
  saleId: z.string(),
  /** With waiting: the id of the request. */
  requestId: z.string().optional(),
  /** The stock that was read or written. */
  stock: z.int().optional(),
  /** Which bucket of the stock, from 0, where it lies in several. */
  bucket: z.int().optional(),
  /** With entered: the fencing token under which it is inside, where its lock has tokens. */
  fencingToken: z.string().optional(),
  /** Why it failed: a problem code, or CLIENT_GONE. */
  code: z.string().optional(),
  /** With LOCK_FAILED: what the lock did. */
  detail: z.string().optional(),
});

export const historySchema = z.object({ events: z.array(saleEventSchema), dropped: count });

/** One line of `GET /events`. */
export const pushSchema = z.object({
  /** When it was written, on the clock of the events. */
  at: z.number(),
  /** What was recorded since the line before, oldest first. */
  events: z.array(saleEventSchema),
  /** How many older ones of these the history had forgotten before they could be sent. */
  dropped: count,
  /** The history was cleared since the line before: what was sent until then is no part of it any more. */
  cleared: z.boolean(),
  /** Absent when it is as it was sent last. The first line has it. */
  state: nodeStateSchema.optional(),
});

export const heapSchema = z.object({ usedBytes: count });

export const redisSchema = z.object({
  version: z.string(),
  server: z.string(),
  masters: count,
  commandsProcessed: count,
  /** By the names of the locks that it can't carry: why, as a sentence. */
  lacks: z.record(z.string(), z.string()),
});

/** The requests that a node is answering, of those that may carry an idempotency key. One whose client has hung up counts until its work has ended. */
export const answersSchema = z.object({ underWay: count });

/** What one tick of the clean-up did. The counts are true however it ended, unless its node died. */
export const tickResultSchema = z.object({
  /** `skipped`: another tick was under way, and nothing was done. `failed`: it has not done all that it had to do. */
  outcome: z.enum(['ran', 'skipped', 'failed']),
  node: z.string(),
  guard: z.string(),
  /** How many orders it read that were due. */
  due: count,
  /** How many orders it closed. */
  closed: count,
  /** How many units it put back into the stock. */
  restored: count,
  ms: count,
  /** Why it failed: a problem code, and a sentence. */
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
  /** Empty when no tick comes by itself. */
  schedule: jobScheduleSchema,
  nextTick: z.string().nullable(),
  running: count,
  held: count,
  /** The latest ticks of the schedule, the last one last: when each was due, and when it began, in milliseconds since 1970. */
  scheduled: z.array(z.object({ dueAt: count, beganAt: count })),
  last: tickResultSchema.nullable(),
});

/** Of the guard of a job, in milliseconds. What is left out is as the node was started. */
export const guardTimingSchema = z.strictObject({ leaseMs, minHoldMs: z.int().min(0).max(3_600_000).optional() });

export const guardChangeSchema = guardTimingSchema.extend({ lock });

/** Where the next tick of a node is held until resumed. */
export const tickScriptSchema = z.strictObject({
  /** When it has read which orders are due, or right after it restored or closed an order. */
  after: z.enum(['read', 'restored', 'closed'], 'must be one of read, restored, closed'),
  /** After so many orders; 1 when it is not given. */
  orders: z.int().min(1).max(MAX_ORDERS).default(1),
});

export type SaleCounts = z.output<typeof saleCountsSchema>;
export type JobSchedule = z.output<typeof jobScheduleSchema>;
export type NodeState = z.output<typeof nodeStateSchema>;
export type ShownState = z.output<typeof shownStateSchema>;
export type Standstill = z.output<typeof standstillSchema>;
export type LockTiming = z.output<typeof lockTimingSchema>;
export type SaleScript = z.output<typeof saleScriptSchema>;
export type SaleEvent = z.output<typeof saleEventSchema>;
export type Push = z.output<typeof pushSchema>;
export type LabHistory = z.output<typeof historySchema>;
export type RedisState = z.output<typeof redisSchema>;
export type TickResult = z.output<typeof tickResultSchema>;
export type AnswersState = z.output<typeof answersSchema>;
export type JobState = z.output<typeof jobStateSchema>;
export type GuardTiming = z.output<typeof guardTimingSchema>;
/** The form in which it is sent: what has a default may be left out. */
export type TickScript = z.input<typeof tickScriptSchema>;
