import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { isInBuckets, stockOf } from '../../../locks/index.ts';
import { addRoute, allowOnly, answerNotFound, answerProblem, giveRequestId, onlyJson } from '../answer.ts';
import type { History } from '../history.ts';
import { onlyKnownHosts } from '../known-hosts.ts';
import { ProblemError } from '../problem.ts';
import { countCommands, versionIn } from '../redis-info.ts';
import type { SaleService } from '../sale-service.ts';
import { lockVersion } from '../settings.ts';
import { skuSchema } from '../sku.ts';
import { lockKeys, type Store } from '../store.ts';
import { lockChangeSchema, type RedisState, type ShownState, saleScriptSchema, stockSchema } from './contract.ts';
import type { EventStreams } from './event-stream.ts';

const versionSchema = lockChangeSchema.extend({ version: lockChangeSchema.shape.version.pipe(lockVersion) });

/** What another part of the service adds to the lab: orders do. */
export interface LabExtension {
  addRoutes(app: Express): void;
  /** Before the stock of `sku` is set to `units`, or deleted, which is 0. */
  beforeCount(sku: string, stockIn: 'redis' | 'mysql', units: number): Promise<void>;
  resume(): void;
}

export interface LabParts {
  sales: SaleService;
  state: () => ShownState;
  store: Store;
  history: History;
  streams: EventStreams;
  log: Logger;
  /** Further names by which the listener may be reached; it always answers to those of this machine. */
  hosts: readonly string[];
  extension: LabExtension | undefined;
}

/**
 * The listener of the lab, never reached through nginx. Every change is a PUT or a DELETE, which a web page of another
 * origin cannot send without asking first.
 */
export function createLabApp({ sales, state, store, history, streams, log, hosts, extension }: LabParts) {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(giveRequestId, onlyKnownHosts(hosts), onlyJson, express.json({ limit: '1kb' }));

  addRoute(app, '/state', { get: (_request, response) => void response.json(state()) });
  addRoute(app, '/lock-version', {
    put(request, response) {
      const { version, ...timing } = versionSchema.parse(request.body);
      sales.setLock(version, timing);
      response.json(state());
    },
  });
  addRoute(app, '/stock', {
    // The present stock: it waits for no lock.
    async get(request, response) {
      const sku = skuSchema.default('001').parse(request.query.sku);
      const remaining = await sales.stock().readStock(sku);
      if (remaining === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
      response.json({ sku, remaining });
    },
    async put(request, response) {
      const { sku, stock } = stockSchema.parse(request.body);
      await extension?.beforeCount(sku, stockOf(state().lock), stock);
      await sales.stock().writeStock(sku, stock);
      response.json({ sku, stock });
    },
    async delete(request, response) {
      const sku = skuSchema.default('001').parse(request.query.sku);
      const { lock } = state();
      await extension?.beforeCount(sku, stockOf(lock), 0);
      await sales.stock().deleteStock(sku);
      await store.redis.del(...lockKeys(sku, lock, isInBuckets(lock) ? store.buckets : 1));
      response.status(204).end();
    },
  });
  addRoute(app, '/next-sale', {
    put(request, response) {
      const script = saleScriptSchema.parse(request.body);
      sales.scriptNextSales(script);
      response.json(script);
    },
  });
  addRoute(app, '/resume', {
    put(_request, response) {
      sales.resume();
      extension?.resume();
      response.status(204).end();
    },
  });
  extension?.addRoutes(app);
  addRoute(app, '/history', {
    get(_request, response) {
      // No follower is behind what is answered here: a node that is killed next has told them all of it.
      streams.push();
      response.json(history.read());
    },
    delete(_request, response) {
      streams.push();
      sales.reset();
      streams.push();
      response.status(204).end();
    },
  });
  // Express would answer a HEAD as GET, which never ends.
  addRoute(app, '/events', { head: allowOnly('GET'), get: (_request, response) => streams.open(response) });
  addRoute(app, '/heap', {
    get(_request, response) {
      collectGarbage();
      response.json({ usedBytes: process.memoryUsage().heapUsed });
    },
  });
  addRoute(app, '/redis', {
    async get(_request, response) {
      const infos = await store.askAll((server) => Promise.all([server.info('server'), server.info('commandstats')]));
      const [server = ''] = infos[0] ?? [];
      response.json({
        version: versionIn(server) ?? '',
        server: /server_name:(\S+)/.exec(server)?.[1] ?? 'redis',
        masters: infos.length,
        commandsProcessed: infos.reduce((sum, [, commandstats]) => sum + countCommands(commandstats), 0),
        lacks: await store.lacks(),
      } satisfies RedisState);
    },
  });
  app.use(answerNotFound, answerProblem(log));
  return app;
}

/** Collects all that can be collected, so that what is left is in use. */
function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
