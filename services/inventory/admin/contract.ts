// What the admin API is asked and what it answers, besides what `sale/contract.ts` and `orders/contract.ts` define.
// `docs/reference/admin-api.md` is made of it. Times and leases are in milliseconds.

import { z } from 'zod';
import { jobChangeSchema, jobStateSchema, reportOrderSchema, tickResultSchema } from '../orders/contract.ts';
import { count, lockChangeSchema, nodeStateSchema, saleEventSchema, saleScriptSchema } from '../sale/contract.ts';
import { remainingSchema, skuSchema } from '../sale/sku.ts';

export const nothing = z.strictObject({}, 'must be {}');

export const shownStateSchema = nodeStateSchema.extend({
  answering: count.describe('Requests with an order or an Idempotency-Key whose work has not ended.'),
  standstills: z
    .array(z.object({ from: z.number(), until: z.number(), ms: z.number() }))
    .describe('When the process was stopped or got no CPU, on the clock of the events.'),
});

export const stockSchema = z.strictObject({ sku: skuSchema.default('001'), stock: z.int().min(0) });

export const historySchema = z.object({
  events: z.array(saleEventSchema),
  dropped: count.describe('Older events that the node has forgotten: it keeps 600,000.'),
});
export type History = z.output<typeof historySchema>;

/** One line of `GET /events`. */
export const pushSchema = z.object({
  at: z.number().describe('When the line was written, on the clock of the events.'),
  events: z.array(saleEventSchema).describe('Recorded since the line before, 1,000 at most.'),
  dropped: count.describe('Events that were forgotten before they could be sent.'),
  cleared: z.boolean().describe('The history was cleared since the line before.'),
  state: nodeStateSchema.optional().describe('The state of the node. Absent when it has not changed.'),
});

export const heapSchema = z.object({ usedBytes: count });

export const redisSchema = z.object({
  version: z.string(),
  server: z.string().describe('`redis` or `valkey`.'),
  masters: count.describe('More than 1 in a Cluster.'),
  commandsProcessed: count.describe('By all clients since the server started, those inside scripts included.'),
  lacks: z.record(z.string(), z.string()).describe('The locks that do not work on this Redis, and why.'),
});

export type ShownState = z.output<typeof shownStateSchema>;
export type Standstill = ShownState['standstills'][number];
export type Push = z.output<typeof pushSchema>;
export type RedisState = z.output<typeof redisSchema>;

interface AdminCall {
  does: string;
  /** What the body must be. */
  body?: z.ZodType;
  /** What is answered with 200; absent where the answer is 204, without a body. */
  answer?: z.ZodType;
}

/** Every call of the admin API. */
export const adminCalls: Record<string, AdminCall> = {
  'GET /state': { does: 'Shows the node: its lock, the sales in flight, the counts.', answer: shownStateSchema },
  'PUT /lock-version': {
    does: 'Sets the lock of all later sales of this node. 409 while a sale is in progress.',
    body: lockChangeSchema,
    answer: shownStateSchema,
  },
  'GET /stock': { does: 'Shows the stock of `?sku=`, without waiting for a lock.', answer: remainingSchema },
  'PUT /stock': {
    does: 'Sets the stock. With orders it also counts the supply anew.',
    body: stockSchema,
    answer: stockSchema,
  },
  'DELETE /stock': { does: 'Deletes the stock of `?sku=` and the key of the lock that is set.' },
  'PUT /next-sale': {
    does: 'Scripts the next sale that gets its lock and finds stock.',
    body: saleScriptSchema,
    answer: saleScriptSchema,
  },
  'PUT /resume': { does: 'Resumes the sales and runs that a script holds.' },
  'GET /history': { does: 'Shows the events since the last reset.', answer: historySchema },
  'DELETE /history': { does: 'Forgets history, counts and script. 409 while a sale is in progress.' },
  'GET /events': {
    does: 'Follows the events: a JSON line within 10 ms of each, and one a second without any. Eight clients at most.',
    answer: pushSchema,
  },
  'GET /heap': { does: 'Collects garbage, then reports the heap in use.', answer: heapSchema },
  'GET /redis': { does: 'Shows which Redis it is, and how many commands it ran.', answer: redisSchema },
  'GET /jobs/cleanup': { does: 'Shows the clean-up. With orders only, as the next three.', answer: jobStateSchema },
  'POST /jobs/cleanup': {
    does: 'Runs the clean-up once, and answers when it has ended.',
    body: nothing,
    answer: tickResultSchema,
  },
  'PUT /jobs/cleanup': {
    does: 'Sets the lock, the schedule or the script of the clean-up on this node.',
    body: jobChangeSchema,
    answer: jobStateSchema,
  },
  'POST /jobs/report': {
    does: 'Runs the second job, which computes for so many milliseconds.',
    body: reportOrderSchema,
  },
};
