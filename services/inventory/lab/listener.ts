import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import { stockOf } from '../../../locks/index.ts';
import { allowOnly, answerNotFound, answerProblem, onlyJson } from '../answer.ts';
import type { History } from '../history.ts';
import { type CleanUpJob, cleanUpScriptSchema } from '../orders/cleanup.ts';
import type { OrderStore } from '../orders/order-store.ts';
import { countCommands, versionIn } from '../redis-info.ts';
import type { SaleDesk } from '../sale-service.ts';
import { jobLock, lockVersion } from '../settings.ts';
import { lockKeys, type Store, skuSchema } from '../store.ts';

const stockSchema = z.strictObject({ sku: skuSchema.default('001'), stock: z.int().min(0) });
const scriptSchema = z.strictObject({
  nestedCall: z.boolean().optional(),
  pauseMs: z.int().min(0).max(600_000).optional(),
  untilResumed: z.boolean().optional(),
  beforeOrder: z.boolean().optional(),
  beforeAnswer: z.boolean().optional(),
  times: z.int().min(1).max(1_000_000).optional(),
});
const nothing = z.strictObject({}, 'must be {}');
const versionSchema = z.strictObject({
  version: z.union([z.string(), z.int().transform(String)]).pipe(lockVersion),
  leaseMs: z.int().min(30).max(3_600_000).optional(),
  retryDelayMs: z.int().min(0).max(250).optional(),
  waitTimeoutMs: z.int().min(1).max(600_000).optional(),
});

const jobLockSchema = z.strictObject({
  lock: z.union([z.string(), z.int().transform(String)]).pipe(jobLock),
  leaseMs: z.int().min(30).max(3_600_000).optional(),
  minHoldMs: z.int().min(0).max(3_600_000).optional(),
});

export interface LabParts {
  desk: SaleDesk;
  store: Store;
  /** Absent when a sale writes no order. */
  orders: OrderStore | undefined;
  /** Absent without orders. */
  cleanUp: CleanUpJob | undefined;
  history: History;
  log: Logger;
}

/**
 * The listener of the lab, never reached through nginx. Every change is a PUT or a DELETE, which a web page of another
 * origin cannot send without asking first.
 */
export function createLabApp({ desk, store, orders, cleanUp, history, log }: LabParts) {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(onlyJson, express.json({ limit: '1kb' }));

  app
    .route('/state')
    .get((_request, response) => void response.json(desk.state()))
    .all(allowOnly('GET'));

  app
    .route('/lock-version')
    .put((request, response) => {
      const { version, leaseMs, retryDelayMs, waitTimeoutMs } = versionSchema.parse(request.body);
      desk.setLock(version, {
        ...(leaseMs !== undefined && { LEASE_MS: leaseMs }),
        ...(retryDelayMs !== undefined && { RETRY_DELAY_MS: retryDelayMs }),
        ...(waitTimeoutMs !== undefined && { WAIT_TIMEOUT_MS: waitTimeoutMs }),
      });
      response.json(desk.state());
    })
    .all(allowOnly('PUT'));

  app
    .route('/stock')
    .put(async (request, response) => {
      const { sku, stock } = stockSchema.parse(request.body);
      await orders?.supply(sku, stockOf(desk.state().lock), stock);
      await desk.stock().writeStock(sku, stock);
      response.json({ sku, stock });
    })
    .delete(async (request, response) => {
      const sku = skuSchema.default('001').parse(request.query.sku);
      const { lock } = desk.state();
      await orders?.supply(sku, stockOf(lock), 0);
      await desk.stock().deleteStock(sku);
      await store.redis.del(...lockKeys(sku, lock));
      response.status(204).end();
    })
    .all(allowOnly('PUT', 'DELETE'));

  app
    .route('/next-sale')
    .put((request, response) => {
      const script = scriptSchema.parse(request.body);
      desk.scriptNextSales(script);
      response.json(script);
    })
    .all(allowOnly('PUT'));

  app
    .route('/resume')
    .put((_request, response) => {
      desk.resume();
      cleanUp?.resume();
      response.status(204).end();
    })
    .all(allowOnly('PUT'));

  if (cleanUp) addCleanUp(cleanUp);

  app
    .route('/history')
    .get((_request, response) => void response.json(history.read()))
    .delete((_request, response) => {
      desk.reset();
      response.status(204).end();
    })
    .all(allowOnly('GET', 'DELETE'));

  app
    .route('/heap')
    .get((_request, response) => {
      collectGarbage();
      response.json({ usedBytes: process.memoryUsage().heapUsed });
    })
    .all(allowOnly('GET'));

  app
    .route('/redis')
    .get(async (_request, response) => {
      const infos = await store.askAll((server) => Promise.all([server.info('server'), server.info('commandstats')]));
      const [server = ''] = infos[0] ?? [];
      response.json({
        version: versionIn(server),
        server: /server_name:(\S+)/.exec(server)?.[1] ?? 'redis',
        masters: infos.length,
        commandsProcessed: infos.reduce((sum, [, commandstats]) => sum + countCommands(commandstats), 0),
      });
    })
    .all(allowOnly('GET'));

  app.use(answerNotFound, answerProblem(log));
  return app;

  function addCleanUp(job: CleanUpJob) {
    app
      .route('/jobs/cleanup')
      .get((_request, response) => void response.json(job.state()))
      // A body of JSON is what a web page of another origin can't send without asking first, so none is not enough.
      .post(async (request, response) => {
        nothing.parse(request.body ?? 'none');
        response.json(await job.tick());
      })
      .all(allowOnly('GET', 'POST'));

    app
      .route('/job-lock')
      .put((request, response) => {
        const { lock, ...timing } = jobLockSchema.parse(request.body);
        job.setLock(lock, timing);
        response.json(job.state());
      })
      .all(allowOnly('PUT'));

    app
      .route('/next-cleanup')
      .put((request, response) => {
        const script = cleanUpScriptSchema.parse(request.body);
        job.scriptNextTick(script);
        response.json(script);
      })
      .all(allowOnly('PUT'));
  }
}

/** Collects all that can be collected, so that what is left is in use. */
function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
