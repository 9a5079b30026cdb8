// The public listener in OpenAPI 3.1, at /openapi.json: made from the schemas that check the requests.

import { z } from 'zod';
import { remainingSchema } from './lab/contract.ts';
import { MAX_KEY_LENGTH } from './orders/idempotency/index.ts';
import { listSchema, orderIdSchema, orderSchema } from './orders/order.ts';
import { type ProblemCode, problemSchema, problems } from './problem.ts';
import { basketSaleSchema, basketSoldSchema, saleSchema, soldSchema } from './sku.ts';

const ordersSchema = z.object({
  orders: z.array(orderSchema).describe('The oldest one first.'),
  next: z.string().nullable().describe('Send it as after to get the next page; null after the last one.'),
});

/** What a client may send, or what a node answers. */
function json(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}

const query = (schema: z.ZodObject) =>
  Object.entries(schema.shape).map(([name, its]) => ({ name, in: 'query', schema: json(its, 'input') }));

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
const orderId = { name: 'id', in: 'path', required: true, schema: json(orderIdSchema, 'input') };

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: reference('Problem') } },
});

/** One answer for each status: the problems that have it. */
function refusals(codes: ProblemCode[]) {
  const responses: Record<string, object> = { default: problem('Any other problem.') };
  for (const { status } of codes.map((code) => problems[code])) {
    const named = codes.filter((code) => problems[code].status === status);
    responses[status] = problem(`${named.map((code) => `${code}: ${problems[code].title}`).join('. ')}.`);
  }
  return responses;
}

/** A call that is answered in JSON, and may be refused by these codes besides those that any call may have. */
function call(summary: string, answer: object, codes: ProblemCode[], { parameters = [], ...more }: More = {}) {
  const done = { description: 'Done.', content: { 'application/json': { schema: answer } } };
  return { summary, ...more, parameters: [...parameters, requestId], responses: { 200: done, ...refusals(codes) } };
}

interface More {
  parameters?: object[];
  description?: string;
  deprecated?: true;
  requestBody?: object;
}

const ofLook: ProblemCode[] = ['BAD_REQUEST', 'NOT_FOUND', 'STORE_UNAVAILABLE'];
const ofKey: ProblemCode[] = ['IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_MISSING', 'IDEMPOTENCY_KEY_REUSED'];
const ofWork: ProblemCode[] = [...ofLook, ...ofKey, 'REQUEST_IN_PROGRESS', 'SHUTTING_DOWN'];
const ofSale: ProblemCode[] = [...ofWork, 'OUT_OF_STOCK', 'LOCK_NOT_HELD', 'LOCK_WAIT_TIMEOUT', 'ORDER_FAILED'];
const withOrders = 'Only where sales write orders.';

/** A step of an order, such as pay. */
const step = (summary: string) => ({
  post: call(summary, reference('Order'), [...ofWork, 'ORDER_STATE'], {
    description: `Answers with the order as it is after the step. ${withOrders}`,
    parameters: [orderId, idempotencyKey],
  }),
});

const probe = (summary: string, status: string, codes: ProblemCode[] = []) => ({
  get: call(summary, json(z.object({ status: z.literal(status) }), 'output'), codes),
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
      post: call('Sells one unit, or a basket.', { anyOf: [reference('Sold'), reference('BasketSold')] }, ofSale, {
        description:
          'Without a sku it sells 001; the body wins over the query. A basket is sold as a whole or not at all, under the lock multi.',
        parameters: [...query(saleSchema), idempotencyKey],
        requestBody: {
          content: { 'application/json': { schema: json(z.union([saleSchema, basketSaleSchema]), 'input') } },
        },
      }),
      get: call('Sells one unit, as POST does.', reference('Sold'), ofSale, {
        description:
          'It is there for the course, so that a browser can click. Use POST: a crawler, or a browser that fetches ahead, would buy.',
        deprecated: true,
        parameters: [...query(saleSchema), idempotencyKey],
      }),
    },
    '/inventory': {
      get: call('Shows the stock.', json(remainingSchema, 'output'), ofLook, { parameters: query(saleSchema) }),
    },
    '/orders': {
      get: call('Lists orders.', reference('Orders'), ofLook, {
        description: withOrders,
        parameters: query(listSchema),
      }),
    },
    '/orders/{id}': {
      get: call('Shows an order.', reference('Order'), ofLook, { description: withOrders, parameters: [orderId] }),
    },
    '/orders/{id}/pay': step('Pays an order.'),
    '/orders/{id}/refund': step('Gives the money of an order back. The units stay sold.'),
    '/healthz': probe('The process is alive.', 'alive'),
    '/readyz': probe('The node takes work, and Redis and the MySQL of its orders answer.', 'ready', [
      'STORE_UNAVAILABLE',
      'SHUTTING_DOWN',
    ]),
    '/metrics': {
      get: {
        summary: 'The metrics of this node.',
        responses: { 200: { description: 'In the format of Prometheus.', content: { 'text/plain': {} } } },
      },
    },
    '/openapi.json': { get: call('This document.', { type: 'object' }, []) },
  },
  components: {
    schemas: {
      Sold: json(soldSchema, 'output'),
      BasketSold: json(basketSoldSchema, 'output'),
      Order: json(orderSchema, 'output'),
      Orders: json(ordersSchema, 'output'),
      Problem: json(problemSchema, 'output'),
    },
  },
};
