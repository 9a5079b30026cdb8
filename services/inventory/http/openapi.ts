// The public API in OpenAPI 3.1, at /openapi.json, generated from the schemas that validate the requests.

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
    orders: z.array(orderSchema).describe('Oldest first.'),
    next: z.string().nullable().describe('The value of `after` for the next page; null on the last page.'),
  })
  .meta({ id: 'Orders' });

const named = z.object({
  'X-Request-Id': z
    .string()
    .regex(requestIdForm)
    .optional()
    .describe('Id of the request, repeated in the response. Without it the node generates one.'),
});
const keyed = named.extend({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(MAX_KEY_LENGTH)
    .optional()
    .describe('Requests with the same key take effect once. IDEMPOTENCY_REQUIRED=on makes the key mandatory.'),
});
const ofSale = keyed.extend({
  'X-User-Id': userSchema.optional().describe('The buyer. Mandatory with LOCK_SCOPE=user; otherwise ignored.'),
});
const ofOrder = z.object({ id: orderIdSchema });

// Nobody is there to be answered CLIENT_GONE.
const { CLIENT_GONE: _, ...answered } = problems;
const codeSchema = z.enum(Object.keys(answered)).describe('For programs. docs/reference/http-api.md lists the codes.');

const problemSchema = z
  .object({
    title: z.string().describe('The meaning of the code.'),
    status: z.int().describe('The HTTP status.'),
    detail: z.string().describe('For people.'),
    code: codeSchema,
    definite: z.boolean().describe('true: the sale did not take place. false: it may have taken place.'),
    outcome: z.literal('sold-out').optional().describe('Only with OUT_OF_STOCK.'),
    requestId: z.string().optional().describe("Id of the request, as in the node's log."),
  } satisfies Record<keyof Problem, z.ZodType>)
  .meta({ id: 'Problem' });

type Asked = Omit<ZodOpenApiOperationObject, 'responses'>;

function call(summary: string, answer: z.ZodType, { requestParams, ...more }: Asked = {}, words = {}) {
  const done = { description: 'Done.', content: { 'application/json': { schema: answer }, ...words } };
  const refused = {
    description: 'A problem; `code` says which.',
    content: { 'application/problem+json': { schema: problemSchema }, ...words },
  };
  const asked = { header: named, ...requestParams };
  return { summary, ...more, requestParams: asked, responses: { 200: done, default: refused } };
}

/** The plain-text response of a sale, for every status. */
const words = { 'text/plain': { schema: z.string().describe('One line of text for people.') } };
const sale = (summary: string, answer: z.ZodType, asked: Asked) => call(summary, answer, asked, words);

const withOrders = 'Only with MYSQL_URL and ORDERS=on.';
const status = <Word extends string>(word: Word) => z.object({ status: z.literal(word) });

const step = (summary: string) => ({
  post: call(summary, orderSchema, {
    description: `Returns the changed order. ${withOrders}`,
    requestParams: { path: ofOrder, header: keyed },
  }),
});

export const openapi = createDocument({
  openapi: '3.1.0',
  info: {
    title: 'Lockstep inventory',
    version: '1',
    description: 'Sells units from one stock, protected by a lock.',
  },
  paths: {
    '/inventory/sale': {
      post: sale('Sells one unit or a basket.', z.union([soldSchema, basketSoldSchema]), {
        description:
          'The default sku is 001; the body takes precedence over the query. Under multi, a body with `skus` sells one unit of each sku, or nothing.',
        requestParams: { query: saleSchema, header: ofSale },
        requestBody: { content: { 'application/json': { schema: z.union([saleSchema, basketSaleSchema]) } } },
      }),
      get: sale('Sells one unit, like POST.', soldSchema, {
        description: 'For trying it in a browser. Otherwise use POST: a crawler or a prefetching browser would buy.',
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
    '/orders/{id}/refund': step('Refunds an order. The units stay sold.'),
    '/healthz': { get: call('Reports that the process is alive, without checking any server.', status('alive')) },
    '/readyz': {
      get: call('Reports whether the node accepts work, and whether Redis and MySQL reply.', status('ready')),
    },
    '/metrics': {
      get: {
        summary: 'Prometheus metrics of this node.',
        responses: { 200: { description: 'In the Prometheus text format.', content: { 'text/plain': {} } } },
      },
    },
    '/openapi.json': { get: call('This API in OpenAPI 3.1.', z.record(z.string(), z.unknown())) },
  },
});
