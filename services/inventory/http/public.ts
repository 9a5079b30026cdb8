import express, { type Request, type Response } from 'express';
import type { Orders } from '../orders/orders.ts';
import { ProblemError } from '../problem.ts';
import type { NodeParts } from '../sale/sale-service.ts';
import { type Asked, basketSaleSchema, lookSchema, saleSchema } from '../sale/sku.ts';
import {
  addRoute,
  allowOnly,
  answerNotFound,
  answerProblem,
  askForWords,
  bodyOf,
  mustNameHost,
  nameRequest,
} from './answer.ts';
import { mustNotBeForeign } from './known-hosts.ts';
import { openapi } from './openapi.ts';
import { addOrderRoutes } from './order-routes.ts';

export interface PublicParts extends Pick<NodeParts, 'sales' | 'store' | 'metrics' | 'log' | 'isStopping'> {
  orders: Pick<Orders, 'areAround' | 'answerSale' | 'answers' | 'shop'>;
  duties: { isReady: boolean; keepsConnections: boolean };
  /** Hosts whose pages may change something, besides this machine and the requested address itself. */
  hosts: readonly string[];
}

/** A request without a query or a body, as most sales are. Parsing these with the schema took 4 % of the CPU of a sale. */
const { sku: usualSku, ...noLimits } = saleSchema.parse({});
const saysNothing = ({ body, url }: Request) => body === undefined && !url.includes('?');

/** The public API, which nginx forwards to. `openapi.ts` describes it, and `docs/reference/http-api.md` adds the rest. */
export function createPublicApp({ sales, store, orders, metrics, log, isStopping, duties, hosts }: PublicParts) {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', 'simple');

  // One handler for all of this: Express spends more CPU on calling a handler than any of these does on its work.
  app.use((request, response, next) => {
    nameRequest(request, response);
    const startedAt = performance.now();
    if (!duties.keepsConnections) response.set('Connection', 'close');
    response.on('close', () => {
      const took = performance.now() - startedAt;
      const ms = Math.round(took);
      // Nothing was answered when the client hung up first: 499, as nginx logs it.
      const status = response.headersSent ? response.statusCode : 499;
      const { requestId } = response.locals;
      const route = request.route?.path ?? 'none';
      metrics.requestSeconds.of(request.method, route, status).observe(took / 1_000);
      log.trace({ requestId, method: request.method, url: request.url, status, ms }, 'request');
    });
    askForWords(request, response);
    mustNameHost(request);
    mustNotBeForeign(request, hosts);
    next();
  });

  addRoute(app, '/inventory/sale', {
    // Express would answer it as GET, which sells.
    head: allowOnly('GET', 'POST'),
    get(request, response) {
      const { sku, ...limits } = saleSchema.parse({ ...request.query });
      return sell(request, response, [sku], limits);
    },
    post(request, response) {
      if (saysNothing(request)) return sell(request, response, [usualSku], noLimits);
      const given = { ...request.query, ...bodyOf(request) };
      if ('skus' in given) {
        const { skus, ...limits } = basketSaleSchema.parse(given);
        return sell(request, response, skus, limits);
      }
      const { sku, ...limits } = saleSchema.parse(given);
      return sell(request, response, [sku], limits);
    },
  });

  function sell(request: Request, response: Response, skus: string[], limits: Omit<Asked, 'user'>) {
    const asked = sales.askedOf(limits, request.get('X-User-Id'));
    if (orders.areAround(request)) return orders.answerSale(request, response, skus, asked);
    if (isStopping()) throw new ProblemError('SHUTTING_DOWN', 'This node accepts no new work.');
    return sales.sell(skus, response, undefined, asked);
  }

  addRoute(app, '/inventory', {
    async get(request, response) {
      const { sku } = lookSchema.parse({ ...request.query });
      const remaining = await sales.readStock(sku, response);
      if (remaining === undefined) throw new ProblemError('NOT_FOUND', `There is no sku ${sku}.`);
      return { sku, remaining };
    },
  });
  if (orders.shop) addOrderRoutes(app, orders.shop.orders, orders.answers, metrics);
  addRoute(app, '/healthz', { get: () => ({ status: 'alive' }) });
  addRoute(app, '/readyz', {
    async get() {
      if (!duties.isReady) throw new ProblemError('SHUTTING_DOWN', 'This node accepts no new work.');
      await Promise.all([store.askAll((server) => server.ping()), orders.shop?.orders.ask()]);
      return { status: 'ready' };
    },
  });
  addRoute(app, '/metrics', {
    async get(_request, response) {
      response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
    },
  });
  addRoute(app, '/openapi.json', { get: () => openapi });
  app.use(answerNotFound, answerProblem(log));
  return app;
}
