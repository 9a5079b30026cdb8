// Orders, the cleanup job, incoming payments and idempotency keys as parts of a node: what they do around a sale, and their
// routes.

import type { Request, Response } from 'express';
import type { Pool } from 'mysql2/promise';
import type { RedisClient } from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';
import type { NodeParts } from '../sale/sale-service.ts';
import type { Asked } from '../sale/sku.ts';
import { endPool } from '../servers/mysql.ts';
import { orderUrlOf } from '../settings/order-settings.ts';
import { createCleanUp } from './cleanup.ts';
import { createAnswers } from './idempotency/index.ts';
import type { Once } from './idempotency/once.ts';
import type { CleanUp } from './jobs/job.ts';
import { connectOrders, createOrderStore } from './order-store.ts';
import { startPaymentConsumer, type TakeBy } from './payments/consumer.ts';
import { openSaleOrder } from './sale-order.ts';

export type Orders = ReturnType<typeof createOrders>;

/** Parts that a program that imports the service replaces. Omitted parts are ours. */
export interface OtherParts {
  /** Statements that create more tables. */
  tables?: string[];
  /** Replaces the strategy that IDEMPOTENCY names. */
  once?: (mysql: Pool, redis: RedisClient) => Once;
  /** Replaces the protection that JOB_LOCK names. */
  cleanUp?: CleanUp;
  /** Replaces our handling of an incoming payment. */
  takeBy?: TakeBy;
}

/** Without MYSQL_URL, or with ORDERS=off, there are only the keys: sales write no orders, and there is no shop. */
export function createOrders(parts: NodeParts, otherParts: OtherParts) {
  const { settings, store, servers, sales, metrics } = parts;
  const count = (outcome: string) => metrics.orders.inc({ outcome });
  const url = orderUrlOf(settings);
  const { MYSQL_ORDER_CONNECTIONS: connections } = settings;
  const mysql =
    url === undefined ? undefined : connectOrders(url, connections, otherParts.tables, servers.mysqlInDoubt);
  if (mysql) metrics.watchPool('orders', mysql);
  const answers = createAnswers(parts, mysql, mysql && otherParts.once?.(mysql, store.redis));
  const shop = mysql && openShop(mysql);

  function openShop(mysql: Pool) {
    const orders = createOrderStore(mysql, settings);
    const cleanUp = createCleanUp(parts, mysql, otherParts.cleanUp);
    const { once } = answers;
    const payments =
      settings.PAYMENTS === 'on' ? startPaymentConsumer(parts, orders, once, otherParts.takeBy) : undefined;
    return { orders, cleanUp, payments };
  }

  return {
    /** The parts that exist if sales write orders. */
    shop,
    answers,
    /** False for a sale that has neither an order nor a key. */
    areAround: (request: Request) => shop !== undefined || answers.areAround(request),
    /** Sells and responds, once per Idempotency-Key, with an order if sales write orders. Rejects like the sale. */
    async answerSale(request: Request, response: Response, skus: string[], asked: Asked) {
      const orders = shop?.orders;
      // An order has one sku.
      if (orders && skus.length > 1) throw new ProblemError('BAD_REQUEST', 'With orders, one sku is sold at a time.');
      return answers.answer(request, response, `sale ${skus.join(' ')}`, (keep) =>
        sales.sell(skus, response, orders && openSaleOrder(parts, orders, count, keep), asked),
      );
    },
    /** How many requests are in progress: a sale may be over before its response is stored. */
    answering: answers.underWay,
    /** For a stopping node: no run and no payment starts any more, and no run is held. */
    end() {
      shop?.cleanUp.end();
      shop?.payments?.end();
    },
    /** Resolves when no run, payment, refund or response is in progress. */
    async ended() {
      await shop?.cleanUp.ended();
      await shop?.payments?.ended();
      await answers.ended();
    },
    /** Resolves within a second, even if MySQL does not reply. */
    async close() {
      shop?.payments?.close();
      if (mysql) await endPool(mysql);
    },
  };
}
