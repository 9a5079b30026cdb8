import type { Express, Request } from 'express';
import { z } from 'zod';
import { addRoute, bodyOf } from '../answer.ts';
import { ProblemError } from '../problem.ts';
import type { Answers } from './idempotency/index.ts';
import { listSchema, orderIdSchema } from './order.ts';
import type { OrderStore } from './order-store.ts';

const idSchema = z.strictObject({ id: orderIdSchema });
const nothing = z.strictObject({});

export interface OrderParts {
  orders: OrderStore;
  answers: Answers;
  isStopping: () => boolean;
  /** Told each time that an order is paid or refunded. */
  count: (outcome: string) => void;
}

/** The calls that see and change orders. `openapi.ts` describes them. */
export function addOrderRoutes(app: Express, { orders, answers, isStopping, count }: OrderParts) {
  addRoute(app, '/orders', { get: (request) => orders.list(listSchema.parse({ ...request.query })) });
  addRoute(app, '/orders/:id', {
    get(request) {
      nothing.parse({ ...request.query });
      return orders.find(idOf(request));
    },
  });
  for (const step of ['pay', 'refund'] as const) {
    addRoute(app, `/orders/:id/${step}`, {
      post(request, response) {
        if (isStopping()) throw new ProblemError('SHUTTING_DOWN', 'This node takes no new work.');
        nothing.parse({ ...request.query, ...bodyOf(request) });
        const id = idOf(request);
        return answers.answer(request, response, `${step} ${id}`, async (keep) => {
          const order = await orders[step](id, keep);
          count(order.status.toLowerCase());
          return order;
        });
      },
    });
  }
}

const idOf = (request: Request) => idSchema.parse({ ...request.params }).id;
