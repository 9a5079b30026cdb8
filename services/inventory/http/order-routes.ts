import type { Express, Request } from 'express';
import { z } from 'zod';
import type { Answers } from '../orders/idempotency/index.ts';
import { listSchema, orderIdSchema } from '../orders/order.ts';
import type { OrderStore } from '../orders/order-store.ts';
import type { Metrics } from '../sale/metrics.ts';
import { addRoute, bodyOf } from './answer.ts';

const idSchema = z.strictObject({ id: orderIdSchema });
const noMore = z.strictObject({});

/** The calls that show and change orders, described in `openapi.ts`. `metrics` counts each change of status. */
export function addOrderRoutes(app: Express, orders: OrderStore, answers: Answers, metrics: Pick<Metrics, 'orders'>) {
  addRoute(app, '/orders', { get: (request) => orders.list(listSchema.parse({ ...request.query })) });
  addRoute(app, '/orders/:id', {
    get(request) {
      noMore.parse({ ...request.query });
      return orders.find(idOf(request));
    },
  });
  for (const step of ['pay', 'refund'] as const) {
    addRoute(app, `/orders/:id/${step}`, {
      post(request, response) {
        noMore.parse({ ...request.query, ...bodyOf(request) });
        const id = idOf(request);
        return answers.answer(request, response, `${step} ${id}`, async (keep) => {
          const order = await orders[step](id, keep);
          metrics.orders.inc({ outcome: order.status.toLowerCase() });
          return order;
        });
      },
    });
  }
}

const idOf = (request: Request) => idSchema.parse({ ...request.params }).id;
