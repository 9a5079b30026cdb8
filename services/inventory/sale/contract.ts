// The sales in the admin API: the one definition, for the node and for its clients.
// `docs/reference/admin-api.md` is generated from it. Times and leases are in milliseconds.

import { z } from 'zod';
import { LONGEST_WAIT_TIMEOUT_MS } from '../settings/limits.ts';

export const count = z.int().min(0);
export const leaseMs = z.int().min(30).max(3_600_000).optional();
/** A lock by number or name. Each node decides which names exist. */
export const lockGiven = z.union([z.string(), z.int().transform(String)]);

/** Whom a sale's lock keeps out: buyers of the same sku, or the same user. */
const scope = z.enum(['sku', 'user']);

export const nodeStateSchema = z
  .object({
    node: z.string().describe('The name of the node.'),
    port: count.describe('Its public port.'),
    pid: count.describe('Its process id.'),
    instance: z.string().describe("First half of each of this node's owner tokens."),
    lock: z.string().describe('The lock of all sales.'),
    leaseMs: count,
    renewEveryMs: z.number(),
    fixedLeaseMs: count.optional().describe('Absent if the watchdog renews the lease.'),
    scope,
    retryDelayMs: count,
    waitTimeoutMs: count,
    permits: count.describe('How many sales the lock admits at once.'),
    inFlight: count.describe('Sales in progress.'),
    held: count.describe('Sales that a script holds until `PUT /resume`.'),
    waiting: count.describe('Sales in progress that are waiting for the lock.'),
    unreleased: count.describe('Locks that the node may still hold and is trying to release.'),
    counts: z
      .record(z.enum(['received', 'sold', 'soldOut', 'lockTimeout', 'clientGone', 'failed', 'inDoubt']), count)
      .describe('How sale requests ended. With no sale in flight, the outcomes add up to `received`.'),
  })
  .meta({ id: 'NodeState' });

/**
 * A lock and its timing, in milliseconds. Omitted values are those that the node was started with, except those that belong to
 * a given lease.
 */
export const lockChangeSchema = z.strictObject({
  version: lockGiven.describe(
    'The lock, by number or name. Omitted settings are those that the node was started with.',
  ),
  leaseMs,
  renewEveryMs: z.number().min(10).max(3_600_000).optional(),
  fixedLeaseMs: leaseMs,
  scope: scope.optional(),
  retryDelayMs: z.int().min(0).max(250).optional(),
  waitTimeoutMs: z.int().min(1).max(LONGEST_WAIT_TIMEOUT_MS).optional(),
});

/** What the next sales do between read and write, and after the write, in this order. */
export const saleScriptSchema = z.strictObject({
  beforeNestedCall: z.boolean().optional().describe('Holds before the nested call until `PUT /resume`.'),
  nestedCall: z
    .union([z.boolean(), z.literal('another object')])
    .optional()
    .describe('Acquires the lock again and releases it, on the same lock object or on another object of the request.'),
  forgetsRelease: z.boolean().optional().describe('The nested call does not release the lock.'),
  pauseMs: z.int().min(0).max(600_000).optional().describe('Pauses inside the lock for this long.'),
  untilResumed: z.boolean().optional().describe('Pauses inside the lock until `PUT /resume`.'),
  blockMs: z.int().min(0).max(60_000).optional().describe('Blocks the event loop for this long.'),
  fails: z.boolean().optional().describe('Fails with ORDER_FAILED between read and write.'),
  beforeOrder: z.boolean().optional().describe('Holds between the stock and the order, outside the lock.'),
  beforeAnswer: z.boolean().optional().describe('Holds between the order and the answer.'),
  times: z.int().min(1).max(1_000_000).optional().describe('How many sales follow the script. Default: 1.'),
});

export const saleEventSchema = z
  .object({
    at: z.number().describe('Milliseconds on a monotonic clock shared by all processes of this machine.'),
    type: z.enum([
      'waiting',
      'entered',
      'began',
      'nested',
      'read',
      'conflict',
      'wrote',
      'left',
      'failed',
      'lease-lost',
    ]),
    node: z.string(),
    saleId: z.string(),
    requestId: z.string().optional().describe('With `waiting`.'),
    stock: z.int().optional().describe('With `read` and `wrote`.'),
    bucket: z.int().optional().describe('Under `buckets`, from 0.'),
    fencingToken: z.string().optional().describe('With `entered`.'),
    code: z.string().optional().describe('With `failed`: a problem code.'),
    detail: z.string().optional(),
  })
  .meta({ id: 'SaleEvent' });

export type SaleCounts = NodeState['counts'];
export type NodeState = z.output<typeof nodeStateSchema>;
export type LockTiming = Omit<z.output<typeof lockChangeSchema>, 'version'>;
export type SaleScript = z.output<typeof saleScriptSchema>;
export type SaleEvent = z.output<typeof saleEventSchema>;
