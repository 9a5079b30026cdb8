// What the sales of a node are told and what they tell: the one definition, for the node and for whoever watches it.
// `docs/reference/http-api.md` explains each member; times and leases are in milliseconds.

import { z } from 'zod';
import { LONGEST_WAIT_TIMEOUT_MS } from '../settings/limits.ts';

export const count = z.int().min(0);
export const leaseMs = z.int().min(30).max(3_600_000).optional();
/** A lock by its number or by its name. Which names there are is for each node to say. */
export const lockGiven = z.union([z.string(), z.int().transform(String)]);

/** Whom the lock of a sale keeps out: who buys the same sku, or the same user. */
const scope = z.enum(['sku', 'user']);

export const nodeStateSchema = z.object({
  node: z.string(),
  port: count,
  pid: count,
  instance: z.string(),
  lock: z.string(),
  leaseMs: count,
  renewEveryMs: z.number(),
  /** Absent where the watchdog renews. */
  fixedLeaseMs: count.optional(),
  scope,
  retryDelayMs: count,
  waitTimeoutMs: count,
  /** How many the present lock lets in at once. */
  permits: count,
  inFlight: count,
  held: count,
  waiting: count,
  unreleased: count,
  /** How the sale requests ended. The outcomes add up to `received` while none is in flight. */
  counts: z.record(z.enum(['received', 'sold', 'soldOut', 'lockTimeout', 'clientGone', 'failed', 'inDoubt']), count),
});

/** A lock and its timing, in milliseconds. What is left out is as the node was started, but for what belongs to a lease that is given. */
export const lockChangeSchema = z.strictObject({
  version: lockGiven,
  leaseMs,
  renewEveryMs: z.number().min(10).max(3_600_000).optional(),
  fixedLeaseMs: leaseMs,
  scope: scope.optional(),
  retryDelayMs: z.int().min(0).max(250).optional(),
  waitTimeoutMs: z.int().min(1).max(LONGEST_WAIT_TIMEOUT_MS).optional(),
});

/** What the next sales do between read and write, and behind it: the steps in this order. */
export const saleScriptSchema = z.strictObject({
  beforeNestedCall: z.boolean().optional(),
  nestedCall: z.union([z.boolean(), z.literal('another object')]).optional(),
  /** The lock that the nested call has acquired is not released. */
  forgetsRelease: z.boolean().optional(),
  pauseMs: z.int().min(0).max(600_000).optional(),
  untilResumed: z.boolean().optional(),
  blockMs: z.int().min(0).max(60_000).optional(),
  fails: z.boolean().optional(),
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

export type SaleCounts = NodeState['counts'];
export type NodeState = z.output<typeof nodeStateSchema>;
export type LockTiming = Omit<z.output<typeof lockChangeSchema>, 'version'>;
export type SaleScript = z.output<typeof saleScriptSchema>;
export type SaleEvent = z.output<typeof saleEventSchema>;
