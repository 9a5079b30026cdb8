// What the lab listener is asked and what it answers, besides what `sale/contract.ts` and `orders/contract.ts` define.
// `docs/reference/http-api.md` explains each member; times and leases are in milliseconds.

import { z } from 'zod';
import { count, nodeStateSchema, saleEventSchema } from '../sale/contract.ts';
import { skuSchema } from '../sale/sku.ts';

export const nothing = z.strictObject({}, 'must be {}');

export const shownStateSchema = nodeStateSchema.extend({
  /** The requests that have an order or an idempotency key, until their work has ended: also when the client has hung up. */
  answering: count,
  /** When the process came late to its own timers although it had nothing to do, on the clock of the events. */
  standstills: z.array(z.object({ from: z.number(), until: z.number(), ms: z.number() })),
});

export const stockSchema = z.strictObject({ sku: skuSchema.default('001'), stock: z.int().min(0) });

export const historySchema = z.object({ events: z.array(saleEventSchema), dropped: count });
export type History = z.output<typeof historySchema>;

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

export type ShownState = z.output<typeof shownStateSchema>;
export type Standstill = ShownState['standstills'][number];
export type Push = z.output<typeof pushSchema>;
export type RedisState = z.output<typeof redisSchema>;
