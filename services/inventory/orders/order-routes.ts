import express, { type Express, type Request } from 'express';
import { z } from 'zod';
import { addRoute, bodyOf, onlyJson } from '../answer.ts';
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
  addRoute(app, '/orders', {
    get: async (request, response) => void response.json(await orders.list(listSchema.parse({ ...request.query }))),
  });
  addRoute(app, '/orders/:id', {
    async get(request, response) {
      nothing.parse({ ...request.query });
      response.json(await orders.find(idOf(request)));
    },
  });
  for (const step of ['pay', 'refund'] as const) {
    addRoute(app, `/orders/:id/${step}`, {
      post: [
        onlyJson,
        express.json({ limit: '1kb' }),
        async (request, response) => {
          if (isStopping()) throw new ProblemError('SHUTTING_DOWN', 'This node takes no new work.');
          nothing.parse({ ...request.query, ...bodyOf(request) });
          const id = idOf(request);
          await answers.answer(request, response, `${step} ${id}`, async (keep) => {
            const order = await orders[step](id, keep);
            count(order.status.toLowerCase());
            return order;
          });
        },
      ],
    });
  }
}

const idOf = (request: Request) => idSchema.parse({ ...request.params }).id;
