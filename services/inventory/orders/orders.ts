// Orders, the clean-up, the payments that arrive and the idempotency keys as parts of a node: what they do around a sale, and their routes.

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
    /** What there is where sales write orders. */
    shop,
    answers,
    /** False for a sale that has neither an order nor a key: it needs nothing of this. */
    areAround: (request: Request) => shop !== undefined || answers.areAround(request),
    /** Sells and answers, once for each Idempotency-Key, with an order where sales write orders. Rejects as the sale does. */
    async answerSale(request: Request, response: Response, skus: string[], asked: Asked) {
      const orders = shop?.orders;
      // An order has one sku.
      if (orders && skus.length > 1)
        throw new ProblemError('BAD_REQUEST', 'Where sales write orders, one sku is sold at a time.');
      return answers.answer(request, response, `sale ${skus.join(' ')}`, (keep) =>
        sales.sell(skus, response, orders && openSaleOrder(parts, orders, count, keep), asked),
      );
    },
    /** How many requests are being answered: the sale of one may be over, and its answer not kept yet. */
    answering: answers.underWay,
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
