// Replaces parts of the service with those of a file, and gives each part what the contract says.

import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { RedisClient } from '../../../locks/lock.ts';
import { inProgress, type Once, succeeded } from '../../../services/inventory/orders/idempotency/once.ts';
import type { CleanUp as Guard } from '../../../services/inventory/orders/jobs/job.ts';
import type { OrderStore } from '../../../services/inventory/orders/order-store.ts';
import type { OtherParts } from '../../../services/inventory/orders/orders.ts';
import { type Message, paymentSchema } from '../../../services/inventory/orders/payments/stream.ts';
import { readSchema } from '../../../services/inventory/servers/mysql.ts';
import { type Ask, withoutTransaction } from '../../../services/inventory/servers/transaction.ts';
import type { AnswerOnce, CleanUp, ExternalParts, Mysql, TakePayment } from './contract.ts';

/** What a node has done through these parts. */
export const asOtherParts = ({ answerOnce, cleanUp, takePayment }: ExternalParts): OtherParts => ({
  tables: readSchema(new URL('schema.sql', import.meta.url)),
  ...(answerOnce && { once: (mysql, redis) => onceBy(answerOnce, mysql, redis) }),
  ...(cleanUp && { cleanUp: guardBy(cleanUp) }),
  ...(takePayment && { takeBy: (orders, redis) => takingBy(takePayment, orders, redis) }),
});

function onceBy(answerOnce: AnswerOnce, pool: Pool, redis: RedisClient): Once {
  const mysql = mysqlBy((sql, values) => withoutTransaction(pool, (ask) => ask(sql, values)));
  return async ({ key }, work) => {
    let hasWorked = false;
    const answer = await answerOnce({
      ...{ key, mysql, redis, inProgress: () => inProgress(key) },
      async work(also) {
        const made = await unlessTaken(key, (watched) =>
          work(also && ((ask, result) => watched(also(mysqlBy(ask), result)))),
        );
        if (made === undefined) throw inProgress(key);
        hasWorked = true;
        return made;
      },
    });
    if (answer === undefined) throw new Error('answerOnce() resolved without a response.');
    return { ...succeeded(answer), isRepeat: !hasWorked };
  };
}

/** What it did to an order is derived from the changes of its statements. */
function guardBy(cleanUp: CleanUp): Guard {
  return async ({ readDue, closeIn }) => {
    await cleanUp({
      readDue,
      inTransaction: (order, work) =>
        closeIn(order, async (ask) => {
          const changed = new Set<string>();
          await work(mysqlBy(ask, (table) => changed.add(table)));
          if (changed.has('tb_stock')) return 'restored';
          return changed.has('tb_order') ? 'closed' : 'nothing';
        }),
    });
    return 'ran';
  };
}

function takingBy(takePayment: TakePayment, orders: Pick<OrderStore, 'receive'>, redis: RedisClient) {
  return async ({ id, fields }: Message) => {
    const payment = paymentSchema.parse(fields);
    await takePayment({
      message: { id, ...payment },
      redis,
      async book(also) {
        const booked = await unlessTaken(payment.key, (watched) =>
          orders.receive(payment, also && ((ask) => watched(also(mysqlBy(ask))))),
        );
        return booked !== undefined;
      },
    });
    return succeeded({});
  };
}

/** Runs `work`, with `watched` in its transaction. Resolves with undefined if that inserts a row with an existing key: everything is rolled back then. */
async function unlessTaken<T>(key: string, work: (watched: (also: Promise<unknown>) => Promise<void>) => Promise<T>) {
  let isTaken = false;
  async function watched(also: Promise<unknown>) {
    await also.catch((error) => {
      isTaken = error.code === 'ER_DUP_ENTRY';
      throw isTaken ? inProgress(key) : error;
    });
  }
  return work(watched).catch((error) => {
    if (!isTaken) throw error;
    return undefined;
  });
}

/** A part's access to MySQL. `onWrite` is called with the table that a statement has changed. */
function mysqlBy(ask: Ask, onWrite: (table: string) => void = () => {}): Mysql {
  return {
    read: async <Row>(sql: string, values?: unknown[]) => (await ask<RowDataPacket[]>(sql, values)) as Row[],
    async write(sql, values) {
      const { affectedRows = 0 } = await ask<ResultSetHeader>(sql, values);
      if (affectedRows > 0) for (const table of ['tb_order', 'tb_stock']) if (sql.includes(table)) onWrite(table);
      return affectedRows;
    },
  };
}
