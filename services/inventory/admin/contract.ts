// The requests and responses of the admin API, apart from those in `sale/contract.ts` and `orders/contract.ts`.
// `docs/reference/admin-api.md` is generated from it. Times and leases are in milliseconds.

import { z } from 'zod';
import { jobChangeSchema, jobStateSchema, reportOrderSchema, tickResultSchema } from '../orders/contract.ts';
import { count, lockChangeSchema, nodeStateSchema, saleEventSchema, saleScriptSchema } from '../sale/contract.ts';
import { remainingSchema, skuSchema } from '../sale/sku.ts';

export const nothing = z.strictObject({}, 'must be {}');

export const shownStateSchema = nodeStateSchema.extend({
  answering: count.describe('Requests with an order or an Idempotency-Key that are still being processed.'),
  standstills: z
    .array(z.object({ from: z.number(), until: z.number(), ms: z.number() }))
    .describe('When the process was paused or got no CPU, on the clock of the events.'),
});

export const stockSchema = z.strictObject({ sku: skuSchema.default('001'), stock: z.int().min(0) });

export const historySchema = z.object({
  events: z.array(saleEventSchema),
  dropped: count.describe('Older events that the node has dropped: it keeps 600,000.'),
});
export type History = z.output<typeof historySchema>;

/** One line of `GET /events`. */
export const pushSchema = z.object({
  at: z.number().describe('When the line was written, on the clock of the events.'),
  events: z.array(saleEventSchema).describe('The events since the previous line, at most 1,000.'),
  dropped: count.describe('Events that were dropped before they could be sent.'),
  cleared: z.boolean().describe('True if the history was cleared since the previous line.'),
  state: nodeStateSchema.optional().describe('The state of the node. Absent if it has not changed.'),
});

export const heapSchema = z.object({ usedBytes: count });

export const redisSchema = z.object({
  version: z.string(),
  server: z.string().describe('`redis` or `valkey`.'),
  masters: count.describe('More than 1 in a Redis Cluster.'),
  commandsProcessed: count.describe(
    'Commands of all clients since the server started, including those inside scripts.',
  ),
  lacks: z.record(z.string(), z.string()).describe('The locks that do not work on this Redis, and why.'),
});

export type ShownState = z.output<typeof shownStateSchema>;
export type Standstill = ShownState['standstills'][number];
export type Push = z.output<typeof pushSchema>;
export type RedisState = z.output<typeof redisSchema>;

interface AdminCall {
  does: string;
  /** The schema of the body. */
  body?: z.ZodType;
  /** The schema of the response with status 200; absent if the response is 204, without a body. */
  answer?: z.ZodType;
}

/** Every call of the admin API. */
export const adminCalls: Record<string, AdminCall> = {
  'GET /state': { does: 'Shows the node: its lock, the sales in flight, the counts.', answer: shownStateSchema },
  'PUT /lock-version': {
    does: 'Sets the lock for all later sales of this node. 409 while a sale is in progress.',
    body: lockChangeSchema,
    answer: shownStateSchema,
  },
  'GET /stock': { does: 'Shows the stock of `?sku=`, without waiting for a lock.', answer: remainingSchema },
  'PUT /stock': {
    does: 'Sets the stock. With orders, it also resets the supply.',
    body: stockSchema,
    answer: stockSchema,
  },
  'DELETE /stock': { does: 'Deletes the stock of `?sku=` and the key of the current lock.' },
  'PUT /next-sale': {
    does: 'Scripts the next sale that gets its lock and finds stock.',
    body: saleScriptSchema,
    answer: saleScriptSchema,
  },
  'PUT /resume': { does: 'Resumes the sales and job runs that a script holds.' },
  'GET /history': { does: 'Shows the events since the last reset.', answer: historySchema },
  'DELETE /history': { does: 'Clears history, counts and script. 409 while a sale is in progress.' },
  'GET /events': {
    does: 'Streams the events: a JSON line within 10 ms of each, and one per second without events. At most eight clients.',
    answer: pushSchema,
  },
  'GET /heap': { does: 'Collects garbage, then reports the heap in use.', answer: heapSchema },
  'GET /redis': { does: 'Shows the Redis version and how many commands the server has run.', answer: redisSchema },
  'GET /jobs/cleanup': {
    does: 'Shows the cleanup job. Only with orders, like the next three calls.',
    answer: jobStateSchema,
  },
  'POST /jobs/cleanup': {
    does: 'Runs the cleanup job once, and responds when the run has ended.',
    body: nothing,
    answer: tickResultSchema,
  },
  'PUT /jobs/cleanup': {
    does: 'Sets the lock, the schedule or the script of the cleanup job on this node.',
    body: jobChangeSchema,
    answer: jobStateSchema,
  },
  'POST /jobs/report': {
    does: 'Runs the second job, which computes for the given time.',
    body: reportOrderSchema,
  },
};
