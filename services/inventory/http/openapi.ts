// The public listener in OpenAPI 3.1, at /openapi.json: made from the schemas that check the requests.

import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { MAX_KEY_LENGTH } from '../orders/idempotency/index.ts';
import { listSchema, orderIdSchema, orderSchema } from '../orders/order.ts';
import { type Problem, problems } from '../problem.ts';
import {
  basketSaleSchema,
  basketSoldSchema,
  lookSchema,
  remainingSchema,
  saleSchema,
  soldSchema,
  userSchema,
} from '../sale/sku.ts';
import { requestIdForm } from './answer.ts';

const ordersSchema = z
  .object({
    orders: z.array(orderSchema).describe('The oldest one first.'),
    next: z.string().nullable().describe('Send it as after to get the next page; null after the last one.'),
  })
  .meta({ id: 'Orders' });

const named = z.object({
  'X-Request-Id': z
    .string()
    .regex(requestIdForm)
    .optional()
    .describe('The id of the request. Without one, the node makes it. Each answer says it.'),
});
const keyed = named.extend({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(MAX_KEY_LENGTH)
    .optional()
    .describe('What comes twice with one key is one request. With IDEMPOTENCY_REQUIRED=on it must be there.'),
});
const ofSale = keyed.extend({
  'X-User-Id': userSchema.optional().describe('Who buys. It must be there with LOCK_SCOPE=user, and is ignored else.'),
});
const ofOrder = z.object({ id: orderIdSchema });

// Nobody is there to be answered CLIENT_GONE.
const { CLIENT_GONE: _, ...answered } = problems;
const codeSchema = z.enum(Object.keys(answered)).describe('For programs: docs/reference/http-api.md explains each.');

const problemSchema = z
  .object({
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('For people.'),
    code: codeSchema,
    definite: z.boolean().describe('True when the sale certainly did not take place, false when it may have.'),
    outcome: z.literal('sold-out').optional().describe('Only with OUT_OF_STOCK.'),
    requestId: z.string().optional().describe("The request in the node's log."),
  } satisfies Record<keyof Problem, z.ZodType>)
  .meta({ id: 'Problem' });

type Asked = Omit<ZodOpenApiOperationObject, 'responses'>;

function call(summary: string, answer: z.ZodType, { requestParams, ...more }: Asked = {}, words = {}) {
  const done = { description: 'Done.', content: { 'application/json': { schema: answer }, ...words } };
  const refused = {
    description: 'A problem: `code` says which.',
    content: { 'application/problem+json': { schema: problemSchema }, ...words },
  };
  const asked = { header: named, ...requestParams };
  return { summary, ...more, requestParams: asked, responses: { 200: done, default: refused } };
}

/** What a sale answers to `Accept: text/plain`, whatever it answers. */
const words = { 'text/plain': { schema: z.string().describe('One line for people, as the course has it.') } };
const sale = (summary: string, answer: z.ZodType, asked: Asked) => call(summary, answer, asked, words);

const withOrders = 'Only where sales write orders.';
const status = <Word extends string>(word: Word) => z.object({ status: z.literal(word) });

const step = (summary: string) => ({
  post: call(summary, orderSchema, {
    description: `Answers with the order as it is after the step. ${withOrders}`,
    requestParams: { path: ofOrder, header: keyed },
  }),
});

export const openapi = createDocument({
  openapi: '3.1.0',
  info: {
    title: 'Lockstep inventory',
    version: '1',
    description: 'Sells units of a stock, one holder of a lock at a time.',
  },
  paths: {
    '/inventory/sale': {
      post: sale('Sells one unit, or a basket.', z.union([soldSchema, basketSoldSchema]), {
        description:
          'Without a sku it sells 001; the body wins over the query. A basket is sold as a whole or not at all, under the lock multi.',
        requestParams: { query: saleSchema, header: ofSale },
        requestBody: { content: { 'application/json': { schema: z.union([saleSchema, basketSaleSchema]) } } },
      }),
      get: sale('Sells one unit, as POST does.', soldSchema, {
        description:
          'It is there for the course, so that a browser can click. Use POST: a crawler, or a browser that fetches ahead, would buy.',
        deprecated: true,
        requestParams: { query: saleSchema, header: ofSale },
      }),
    },
    '/inventory': { get: call('Shows the stock.', remainingSchema, { requestParams: { query: lookSchema } }) },
    '/orders': {
      get: call('Lists orders.', ordersSchema, {
        description: withOrders,
        requestParams: { query: listSchema },
      }),
    },
    '/orders/{id}': {
      get: call('Shows an order.', orderSchema, { description: withOrders, requestParams: { path: ofOrder } }),
    },
    '/orders/{id}/pay': step('Pays an order.'),
    '/orders/{id}/refund': step('Gives the money of an order back. The units stay sold.'),
    '/healthz': { get: call('The process is alive.', status('alive')) },
    '/readyz': {
      get: call('The node takes work, and Redis and the MySQL of its orders answer.', status('ready')),
    },
    '/metrics': {
      get: {
        summary: 'The metrics of this node.',
        responses: { 200: { description: 'In the format of Prometheus.', content: { 'text/plain': {} } } },
      },
    },
    '/openapi.json': { get: call('This document.', z.record(z.string(), z.unknown())) },
  },
});
