import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express, { type Express } from 'express';
import { z } from 'zod';
import { isInBuckets, stockOf } from '../../../locks/index.ts';
import { addRoute, allowOnly, answerNotFound, answerProblem, giveRequestId } from '../http/answer.ts';
import { onlyKnownHosts } from '../http/known-hosts.ts';
import type { CleanUpJob } from '../orders/cleanup.ts';
import { jobChangeSchema, reportOrderSchema } from '../orders/contract.ts';
import type { Orders } from '../orders/orders.ts';
import { report as busy } from '../orders/report/busy.ts';
import { report as inSlices } from '../orders/report/in-slices.ts';
import { ProblemError } from '../problem.ts';
import { lockChangeSchema, saleScriptSchema } from '../sale/contract.ts';
import type { NodeParts } from '../sale/sale-service.ts';
import { skuSchema } from '../sale/sku.ts';
import { countCommands, versionIn } from '../servers/redis-info.ts';
import { lockKeys } from '../servers/store.ts';
import { jobLock } from '../settings/order-settings.ts';
import { cron } from '../settings/setting-kinds.ts';
import { lockVersion } from '../settings/settings.ts';
import { nothing, type RedisState, type ShownState, stockSchema } from './contract.ts';
import type { EventStreams } from './event-stream.ts';

const versionSchema = lockChangeSchema.extend({ version: lockChangeSchema.shape.version.pipe(lockVersion) });

export interface LabParts extends Pick<NodeParts, 'sales' | 'store' | 'history' | 'log'> {
  state: () => ShownState;
  streams: EventStreams;
  /** More names by which clients may reach the admin API; it always answers to the names of this machine. */
  hosts: readonly string[];
  shop: Orders['shop'];
}

/**
 * The admin API, never reached through nginx. Every change is a PUT or
 * a DELETE, which a web page of another origin cannot send without asking first.
 */
export function createLabApp({ sales, state, store, history, streams, log, hosts, shop }: LabParts) {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(giveRequestId, onlyKnownHosts(hosts));

  addRoute(app, '/state', { get: state });
  addRoute(app, '/lock-version', {
    async put(request) {
      const { version, ...timing } = versionSchema.parse(request.body);
      const { lock } = state();
      sales.setLock(version, timing);
      await sales.gatherBuckets().catch((error) => {
        // After another lock it is rare that there is something to gather, and the lock is set.
        if (isInBuckets(lock)) throw error;
        log.warn(error.message);
      });
      return state();
    },
  });
  addRoute(app, '/stock', {
    // The present stock: it waits for no lock.
    async get(request) {
      const sku = skuSchema.default('001').parse(request.query.sku);
      const remaining = await sales.stock().readStock(sku);
      if (remaining === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
      return { sku, remaining };
    },
    async put(request) {
      const { sku, stock } = stockSchema.parse(request.body);
      await shop?.orders.supply(sku, stockOf(state().lock), stock);
      await sales.stock().writeStock(sku, stock);
      return { sku, stock };
    },
    async delete(request) {
      const sku = skuSchema.default('001').parse(request.query.sku);
      const { lock } = state();
      await shop?.orders.supply(sku, stockOf(lock), 0);
      await sales.stock().deleteStock(sku);
      await store.redis.del(...lockKeys(sku, lock, isInBuckets(lock) ? store.buckets : 1));
    },
  });
  addRoute(app, '/next-sale', {
    put(request) {
      const script = saleScriptSchema.parse(request.body);
      sales.scriptNextSales(script);
      return script;
    },
  });
  addRoute(app, '/resume', {
    put() {
      sales.resume();
      shop?.cleanUp.resume();
    },
  });
  if (shop) addJobRoutes(app, shop.cleanUp);
  addRoute(app, '/history', {
    get() {
      // No follower is behind what is answered here: a node that is killed next has told them all of it.
      streams.push();
      const { events, dropped } = history.read();
      return { events, dropped };
    },
    delete() {
      streams.push();
      sales.reset();
      streams.push();
    },
  });
  // Express would answer a HEAD as GET, which never ends.
  addRoute(app, '/events', { head: allowOnly('GET'), get: (_request, response) => streams.open(response) });
  addRoute(app, '/heap', {
    get() {
      collectGarbage();
      return { usedBytes: process.memoryUsage().heapUsed };
    },
  });
  addRoute(app, '/redis', {
    async get(): Promise<RedisState> {
      const infos = await store.askAll((server) => Promise.all([server.info('server'), server.info('commandstats')]));
      const [server = ''] = infos[0] ?? [];
      return {
        version: versionIn(server) ?? '',
        server: /server_name:(\S+)/.exec(server)?.[1] ?? 'redis',
        masters: infos.length,
        commandsProcessed: infos.reduce((sum, [, commandstats]) => sum + countCommands(commandstats), 0),
        lacks: await store.lacks(),
      };
    },
  });
  app.use(answerNotFound, answerProblem(log));
  return app;
}

/** The calls that show, run and change the cleanup job, and the call that runs the second job. */
function addJobRoutes(app: Express, job: CleanUpJob) {
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
  addRoute(app, '/jobs/report', {
    async post(request) {
      const { way, ms } = reportOrderSchema.parse(request.body);
      await (way === 'busy' ? busy(ms) : inSlices(ms));
    },
  });
}

function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
