import type { Express, Request } from 'express';
import { z } from 'zod';
import { jobChangeSchema, nothing } from '../admin/contract.ts';
import type { CleanUpJob } from '../orders/cleanup.ts';
import type { Answers } from '../orders/idempotency/index.ts';
import { listSchema, orderIdSchema } from '../orders/order.ts';
import type { OrderStore } from '../orders/order-store.ts';
import { cron, jobLock } from '../settings/order-settings.ts';
import { addRoute, bodyOf } from './answer.ts';

const idSchema = z.strictObject({ id: orderIdSchema });
const noMore = z.strictObject({});

/** The calls that see and change orders, which `openapi.ts` describes. `count` is told what an order has become. */
export function addOrderRoutes(app: Express, orders: OrderStore, answers: Answers, count: (outcome: string) => void) {
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
          count(order.status.toLowerCase());
          return order;
        });
      },
    });
  }
}

const idOf = (request: Request) => idSchema.parse({ ...request.params }).id;

/** The calls of the lab listener that see, run and change the clean-up. `docs/http-api.md` describes them. */
export function addJobRoutes(app: Express, job: CleanUpJob) {
  addRoute(app, '/jobs/cleanup', {
    get: job.state,
    post(request) {
      // A body of JSON is what a web page of another origin can't send without asking first, so none is not enough.
      nothing.parse(request.body ?? 'none');
      return job.tick();
    },
    put(request) {
      const { guard, schedule, script } = jobChangeSchema.parse(request.body);
      z.object({ cron: cron().optional() }).parse(schedule ?? {});
      if (guard) job.setGuard({ ...guard, ...z.object({ lock: jobLock }).parse(guard) });
      if (schedule) job.setSchedule(schedule);
      if (script) job.scriptNextTick(script);
      return job.state();
    },
  });
}
