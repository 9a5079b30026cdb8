// The public listener in OpenAPI 3.1, at /openapi.json: made from the schemas that check the requests.

import { z } from 'zod';
import { MAX_KEY_LENGTH } from './orders/idempotency/index.ts';
import { listSchema, orderIdSchema, orderSchema } from './orders/order.ts';
import { type ProblemCode, problemSchema, problems } from './problem.ts';
import type { BasketSold, Sold } from './sell.ts';
import { basketSaleSchema, saleSchema } from './sku.ts';

const units = z.int();

const ofSale = {
  outcome: z.literal('sold'),
  saleId: z.string().describe('Counted by the node for itself, from its start: holder names the sale among all.'),
  node: z.string().describe('The node that sold.'),
  port: z.int().describe('Where that node listens.'),
  lock: z.string().describe('The lock of the sale, such as 8-auto-renew.'),
  holder: z.string().describe('The owner token of this sale.'),
};
const itemSchema = z.object({
  sku: z.string().describe('What was sold.'),
  stockBefore: units.describe('The stock that this sale read.'),
  remaining: units.describe('The stock that it wrote: stockBefore - 1.'),
});
const soldSchema = z.object({
  ...ofSale,
  ...itemSchema.shape,
  bucket: units
    .optional()
    .describe(
      'Only where the stock lies in several buckets: which one, from 0. stockBefore and remaining are of this one.',
    ),
  orderId: z.string().optional().describe('Only where sales write orders.'),
}) satisfies z.ZodType<Partial<Sold>>;
const basketSoldSchema = z.object({
  ...ofSale,
  skus: z.array(itemSchema).describe('In the order of the request.'),
}) satisfies z.ZodType<BasketSold>;

const remainingSchema = z.object({ sku: z.string(), remaining: units });

const ordersSchema = z.object({
  orders: z.array(orderSchema).describe('The oldest one first.'),
  next: z.string().nullable().describe('Send it as after to get the next page; null after the last one.'),
});

/** What a client may send. */
const asked = (schema: z.ZodType) => json(schema, 'input');
/** What a node answers. */
const answered = (schema: z.ZodType) => json(schema, 'output');

function json(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}

const query = (schema: z.ZodObject) =>
  Object.entries(schema.shape).map(([name, its]) => ({ name, in: 'query', schema: asked(its) }));

const requestId = {
  name: 'X-Request-Id',
  in: 'header',
  description: 'The id of the request. Without one, the node makes it. Each answer says it.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
};
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'What comes twice with one key is one request. With IDEMPOTENCY_REQUIRED=on it must be there.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH },
};
const orderId = { name: 'id', in: 'path', required: true, schema: asked(orderIdSchema) };

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const ok = (schema: object) => ({ 200: { description: 'Done.', content: { 'application/json': { schema } } } });

/** The problems that a call may be answered with, by their status, besides those that any call may have. */
function refusals(...codes: ProblemCode[]) {
  const responses: Record<string, object> = {
    default: {
      description: 'Any other problem.',
      content: { 'application/problem+json': { schema: reference('Problem') } },
    },
  };
  for (const { status } of codes.map((code) => problems[code])) {
    const named = codes
      .filter((code) => problems[code].status === status)
      .map((code) => `${code}: ${problems[code].title}`);
    const content = { 'application/problem+json': { schema: reference('Problem') } };
    responses[status] = { description: `${named.join('. ')}.`, content };
  }
  return responses;
}

const saleRefusals = refusals(
  ...(['BAD_REQUEST', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_MISSING', 'NOT_FOUND', 'OUT_OF_STOCK'] as const),
  ...(['REQUEST_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED', 'LOCK_NOT_HELD', 'LOCK_WAIT_TIMEOUT'] as const),
  ...(['STORE_UNAVAILABLE', 'ORDER_FAILED', 'SHUTTING_DOWN'] as const),
);
const stepRefusals = refusals(
  ...(['BAD_REQUEST', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_MISSING', 'NOT_FOUND', 'ORDER_STATE'] as const),
  ...(['REQUEST_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED', 'STORE_UNAVAILABLE', 'SHUTTING_DOWN'] as const),
);
const withOrders = 'Only where sales write orders.';

/** A step of an order, such as pay. */
const step = (summary: string) => ({
  summary,
  description: `Answers with the order as it is after the step. ${withOrders}`,
  parameters: [orderId, idempotencyKey, requestId],
  responses: { ...ok(reference('Order')), ...stepRefusals },
});

const probe = (summary: string, status: string, ...codes: ProblemCode[]) => ({
  summary,
  responses: { ...ok(answered(z.object({ status: z.literal(status) }))), ...refusals(...codes) },
});

export const openapi = {
  openapi: '3.1.0',
  info: {
    title: 'Lockstep inventory',
    version: '1',
    description: 'Sells units of a stock, one holder of a lock at a time.',
  },
  paths: {
    '/inventory/sale': {
      post: {
        summary: 'Sells one unit, or a basket.',
        description:
          'Without a sku it sells 001; the body wins over the query. A basket is sold as a whole or not at all, under the lock multi.',
        parameters: [...query(saleSchema), idempotencyKey, requestId],
        requestBody: {
          content: { 'application/json': { schema: { anyOf: [asked(saleSchema), asked(basketSaleSchema)] } } },
        },
        responses: { ...ok({ anyOf: [reference('Sold'), reference('BasketSold')] }), ...saleRefusals },
      },
      get: {
        summary: 'Sells one unit, as POST does.',
        description:
          'It is there for the course, so that a browser can click. Use POST: a crawler, or a browser that fetches ahead, would buy.',
        deprecated: true,
        parameters: [...query(saleSchema), idempotencyKey, requestId],
        responses: { ...ok(reference('Sold')), ...saleRefusals },
      },
    },
    '/inventory': {
      get: {
        summary: 'Shows the stock.',
        parameters: [...query(saleSchema), requestId],
        responses: { ...ok(answered(remainingSchema)), ...refusals('BAD_REQUEST', 'NOT_FOUND', 'STORE_UNAVAILABLE') },
      },
    },
    '/orders': {
      get: {
        summary: 'Lists orders.',
        description: withOrders,
        parameters: [...query(listSchema), requestId],
        responses: { ...ok(reference('Orders')), ...refusals('BAD_REQUEST', 'NOT_FOUND', 'STORE_UNAVAILABLE') },
      },
    },
    '/orders/{id}': {
      get: {
        summary: 'Shows an order.',
        description: withOrders,
        parameters: [orderId, requestId],
        responses: { ...ok(reference('Order')), ...refusals('BAD_REQUEST', 'NOT_FOUND', 'STORE_UNAVAILABLE') },
      },
    },
    '/orders/{id}/pay': { post: step('Pays an order.') },
    '/orders/{id}/refund': { post: step('Gives the money of an order back. The units stay sold.') },
    '/healthz': { get: probe('The process is alive.', 'alive') },
    '/readyz': {
      get: probe(
        'The node takes work, and Redis and the MySQL of its orders answer.',
        'ready',
        'STORE_UNAVAILABLE',
        'SHUTTING_DOWN',
      ),
    },
    '/metrics': {
      get: {
        summary: 'The metrics of this node.',
        responses: {
          200: { description: 'In the format of Prometheus.', content: { 'text/plain': {} } },
          ...refusals(),
        },
      },
    },
    '/openapi.json': {
      get: { summary: 'This document.', responses: { ...ok({ type: 'object' }), ...refusals() } },
    },
  },
  components: {
    schemas: {
      Sold: answered(soldSchema),
      BasketSold: answered(basketSoldSchema),
      Order: answered(orderSchema),
      Orders: answered(ordersSchema),
      Problem: answered(problemSchema),
    },
  },
};
