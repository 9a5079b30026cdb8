// Orders, the clean-up, the payments that arrive and the idempotency keys as parts of a node: what they do around a sale, and their routes.

import type { Express, Request, Response } from 'express';
import type { Pool } from 'mysql2/promise';
import type { RedisClient } from '../../../locks/lock.ts';
import { endPool } from '../mysql.ts';
import type { NodeParts } from '../parts.ts';
import { ProblemError } from '../problem.ts';
import { createCleanUp } from './cleanup.ts';
import { createAnswers } from './idempotency/index.ts';
import type { Once } from './idempotency/once.ts';
import type { CleanUp } from './jobs/job.ts';
import { connectOrders, createOrderStore, type OrderStore } from './order-store.ts';
import { startPaymentConsumer, type TakeBy } from './payments/consumer.ts';
import { addJobRoutes, addOrderRoutes } from './routes.ts';
import { openSaleOrder } from './sale-order.ts';
import { orderUrlOf } from './settings.ts';

export type Orders = ReturnType<typeof createOrders>;

/** What a program that imports the service has done in the place of our own parts. What is left out is ours. */
export interface OtherParts {
  /** The statements that make further tables. */
  tables?: string[];
  /** Instead of the strategy that IDEMPOTENCY names. */
  once?: (mysql: Pool, redis: RedisClient) => Once;
  /** Instead of the guard that JOB_LOCK names. */
  cleanUp?: CleanUp;
  /** Instead of what we do with a payment that arrives. */
  takeBy?: TakeBy;
}

/** Filled, if at all, before the service starts. */
export const otherParts: OtherParts = {};

/** Without MYSQL_URL, or with ORDERS=off, there are only the keys: sales write no orders, and no route is added. */
export function createOrders(parts: NodeParts) {
  const { settings, store, servers, sales, metrics, isStopping } = parts;
  const count = (outcome: string, orders = 1) => metrics.orders.inc({ outcome }, orders);
  const url = orderUrlOf(settings);
  const mysql = url === undefined ? undefined : connect(url);
  const answers = createAnswers(settings, isStopping, {
    servers: servers.forLock('8-auto-renew', settings.LEASE_MS),
    orders: mysql,
    otherOnce: mysql && otherParts.once?.(mysql, store.redis),
  });
  const shop = mysql && openShop(mysql);

  function connect(url: string) {
    const pool = connectOrders(url, settings.MYSQL_ORDER_CONNECTIONS, otherParts.tables, servers.mysqlOutage);
    metrics.watchPool('orders', pool);
    return pool;
  }

  /** What there is where sales write orders. */
  function openShop(mysql: Pool) {
    const orders = createOrderStore(mysql, settings);
    const cleanUp = createCleanUp({
      ...parts,
      mysql,
      carryOut: otherParts.cleanUp,
      ended({ outcome, closed, ms }) {
        metrics.jobSeconds.observe({ job: 'cleanup', outcome }, ms / 1_000);
        count('closed', closed);
      },
    });
    const { once } = answers;
    const payments =
      settings.PAYMENTS === 'on'
        ? startPaymentConsumer({ ...parts, orders, once, takeBy: otherParts.takeBy })
        : undefined;
    return { orders, cleanUp, payments };
  }

  return {
    /** Sells and answers, once for each Idempotency-Key, with an order where sales write orders. Rejects as the sale does. */
    async answerSale(request: Request, response: Response, skus: string[]) {
      const orders = shop?.orders;
      // An order has one sku.
      if (orders && skus.length > 1)
        throw new ProblemError('BAD_REQUEST', 'Where sales write orders, one sku is sold at a time.');
      const { giveBack } = sales;
      const { WAIT_TIMEOUT_MS: waitTimeoutMs } = settings;
      return answers.answer(request, response, `sale ${skus.join(' ')}`, (keep) =>
        sales.sell(skus, response, orders && openSaleOrder({ orders, giveBack, waitTimeoutMs, keep, count })),
      );
    },
    addPublicRoutes(app: Express) {
      if (shop) addOrderRoutes(app, { ...parts, orders: shop.orders, answers, count });
    },
    /** Rejects when orders are written and MySQL does not answer. */
    ask: async () => void (await shop?.orders.ask()),
    addLabRoutes(app: Express) {
      if (shop) addJobRoutes(app, shop.cleanUp);
    },
    /** How many requests are being answered: the sale of one may be over, and its answer not kept yet. */
    answering: answers.underWay,
    /** Before the stock of a sku is set to so many units, or deleted, which is 0. */
    beforeCount: async (...count: Parameters<OrderStore['supply']>) => shop?.orders.supply(...count),
    resume: () => shop?.cleanUp.resume(),
    /** For a node that stops: no tick and no payment begins any more, and no tick is held. */
    end() {
      shop?.cleanUp.end();
      shop?.payments?.end();
    },
    /** Resolves when no tick, no payment, no refund and no answer is under way. */
    async ended() {
      await shop?.cleanUp.ended();
      await shop?.payments?.ended();
      await answers.ended();
    },
    /** Resolves within a second, also when MySQL does not answer. */
    async close() {
      shop?.payments?.close();
      if (mysql) await endPool(mysql);
    },
  };
}
