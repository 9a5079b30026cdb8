// What a lab listener answers, as its callers check it.

import { z } from 'zod';

const count = z.int().min(0);

export const stateSchema = z.object({
  node: z.string(),
  instance: z.string(),
  port: count,
  lock: z.string(),
  leaseMs: count,
  retryDelayMs: count,
  waitTimeoutMs: count,
  inFlight: count,
  waiting: count,
  unreleased: count,
  counts: z.object({
    received: count,
    sold: count,
    soldOut: count,
    lockTimeout: count,
    clientGone: count,
    failed: count,
    inDoubt: count,
  }),
});

export const eventSchema = z.object({
  at: z.number(),
  type: z.enum(['waiting', 'entered', 'began', 'nested', 'read', 'conflict', 'wrote', 'left', 'failed', 'lease-lost']),
  node: z.string(),
  saleId: z.string(),
  stock: z.int().optional(),
  code: z.string().optional(),
  /** What an external lock did wrong. */
  detail: z.string().optional(),
});

export type NodeState = z.infer<typeof stateSchema>;
/** What a node did for one sale, and when: milliseconds on the clock that all processes of one host share. */
export type SaleEvent = z.infer<typeof eventSchema>;
