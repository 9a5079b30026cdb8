// Puts the parts of a file in the place of ours: each is given what it may use, and is held to what it must do.

import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { isRefused } from '../../../locks/drivers/mysql-session.ts';
import type { RedisClient } from '../../../locks/lock.ts';
import { awayServer } from '../../../services/inventory/away-server.ts';
import { describe } from '../../../services/inventory/describe.ts';
import { readSchema } from '../../../services/inventory/mysql.ts';
import { type Answer, inProgress, type Once, succeeded } from '../../../services/inventory/orders/idempotency/once.ts';
import type { CleanUp as Guard } from '../../../services/inventory/orders/jobs/job.ts';
import type { OrderStore } from '../../../services/inventory/orders/order-store.ts';
import type { OtherParts } from '../../../services/inventory/orders/orders.ts';
import { paymentSchema } from '../../../services/inventory/orders/payments/payment.ts';
import type { Message } from '../../../services/inventory/orders/payments/stream.ts';
import { type Ask, withoutTransaction } from '../../../services/inventory/orders/transaction.ts';
import { ProblemError } from '../../../services/inventory/problem.ts';
import type { AnswerOnce, CleanUp, ExternalParts, Mysql, TakePayment } from './contract.ts';

/** What a part of a file did that it may not do. The message is a sentence. */
export class ExternalPartFault extends Error {
  readonly code = 'PART_FAILED';
}

/** What a node has done by these parts. */
export const supervised = ({ answerOnce, cleanUp, takePayment }: ExternalParts): OtherParts => ({
  tables: readSchema(new URL('schema.sql', import.meta.url)),
  ...(answerOnce && { once: (mysql, redis) => onceBy(answerOnce, mysql, redis) }),
  ...(cleanUp && { cleanUp: guardBy(cleanUp) }),
  ...(takePayment && { takeBy: (orders, redis) => takingBy(takePayment, orders, redis) }),
});

/** The strategy for keys that a module brings. */
function onceBy(answerOnce: AnswerOnce, mysql: Pool, redis: RedisClient): Once {
  return async ({ key }, work) => {
    const transaction = watchTransaction();
    let hasWorked = false;
    const answer = await faultless('answerOnce()', transaction, () =>
      answerOnce({
        key,
        async work(also) {
          const made = transaction.run((keep) => work(also && ((ask, result) => keep(() => also(on(ask), result)))));
          const result = await made.catch((error) => {
            throw transaction.isTaken() ? inProgress(key) : error;
          });
          hasWorked = true;
          return result;
        },
        mysql: outside(mysql, transaction),
        redis,
        inProgress: () => inProgress(key),
      }),
    );
    if (typeof answer !== 'object' || answer === null)
      throw new ExternalPartFault(`answerOnce() resolves with no answer, but with ${describe(answer)}.`);
    return { ...succeeded(answer), isRepeat: !hasWorked };
  };
}

/** The guard of the clean-up that a module brings. What it has done to an order is seen from what its statements have changed. */
function guardBy(cleanUp: CleanUp): Guard {
  return async ({ readDue, closeIn }) => {
    await faultless('cleanUp()', watchTransaction(), () =>
      cleanUp({
        readDue,
        async inTransaction(order, work) {
          let fault: unknown;
          await closeIn(order, async (ask) => {
            const done = new Set<string>();
            await work(on(ask, (table) => done.add(table))).catch((error: unknown) => {
              fault = error;
              throw error;
            });
            fault = undefined;
            if (done.has('tb_stock')) return 'restored';
            return done.has('tb_order') ? 'closed' : 'nothing';
          });
          if (fault !== undefined) throw fault;
        },
      }),
    );
    return 'ran';
  };
}

/** What is done with a payment that arrives, as a module has it done. */
function takingBy(takePayment: TakePayment, orders: Pick<OrderStore, 'receive'>, redis: RedisClient) {
  return async ({ id, fields }: Message): Promise<Answer> => {
    const payment = paymentSchema.parse(fields);
    const transaction = watchTransaction();
    await faultless('takePayment()', transaction, () =>
      takePayment({
        message: { id, ...payment },
        async book(also) {
          try {
            await transaction.run((keep) => orders.receive(payment, also && ((ask) => keep(() => also(on(ask))))));
            return true;
          } catch (error) {
            if (transaction.isTaken()) return false;
            throw error;
          }
        },
        redis,
      }),
    );
    return succeeded({});
  };
}

/** What a transaction of ours came to that a part has taken part in. */
function watchTransaction() {
  let isTaken = false;
  let isOpen = false;
  const known = new WeakSet<object>();

  return {
    /** Has `work` done, whose errors are not those of the part. What the part does goes through `keep`. */
    async run<T>(work: (keep: (also: () => Promise<unknown>) => Promise<void>) => Promise<T>): Promise<T> {
      let fault: unknown;
      isTaken = false;
      try {
        return await work(async (also) => {
          isOpen = true;
          fault = undefined;
          try {
            await also();
          } catch (error) {
            isTaken = codeOf(error) === 'ER_DUP_ENTRY';
            if (!isTaken) fault = error;
            throw isTaken ? taken() : error;
          } finally {
            isOpen = false;
          }
        });
      } catch (error) {
        if (fault !== undefined && !isOfServers(fault)) throw fault;
        if (typeof error === 'object' && error !== null) known.add(error);
        throw error;
      }
    },
    /** True when the part has inserted a row whose key was there, so that all was undone. */
    isTaken: () => isTaken,
    /** True while the part is at work within the transaction. */
    isOpen: () => isOpen,
    /** True for an error that came of our own work. */
    isKnown: (error: unknown) => typeof error === 'object' && error !== null && known.has(error),
  };
}

type Watched = ReturnType<typeof watchTransaction>;

/** Rejects with ExternalPartFault for an error that is neither ours nor of a server that is away. */
async function faultless<T>(call: string, { isKnown }: Pick<Watched, 'isKnown'>, act: () => Promise<T>) {
  try {
    return await act();
  } catch (error) {
    const isForeseen = error instanceof ProblemError || error instanceof ExternalPartFault || isKnown(error);
    if (isForeseen || isOfServers(error)) throw error;
    throw new ExternalPartFault(`${call} fails: ${describe(error)}.`);
  }
}

/** MySQL as a part is given it within a transaction. `onWrite` hears which of the tables a statement has changed. */
function on(ask: Ask, onWrite: (table: string) => void = () => {}): Mysql {
  return {
    read: async <Row>(sql: string, values?: unknown[]) => (await ask<RowDataPacket[]>(sql, values)) as Row[],
    async write(sql, values) {
      const { affectedRows = 0 } = await ask<ResultSetHeader>(sql, values);
      if (affectedRows > 0) for (const table of ['tb_order', 'tb_stock']) if (sql.includes(table)) onWrite(table);
      return affectedRows;
    },
  };
}

/** MySQL as a part is given it outside of our transaction. */
function outside(pool: Pool, { isOpen }: Watched): Mysql {
  async function once<T>(act: (mysql: Mysql) => Promise<T>): Promise<T> {
    if (isOpen())
      throw new ExternalPartFault('Within work() only the mysql that it gives you belongs to its transaction.');
    return withoutTransaction(pool, (ask) => act(on(ask)));
  }
  return {
    read: <Row>(sql: string, values?: unknown[]) => once((mysql) => mysql.read<Row>(sql, values)),
    write: (sql, values) => once((mysql) => mysql.write(sql, values)),
  };
}

/** Undoes the transaction, as one that is refused. */
const taken = () => new ProblemError('REQUEST_IN_PROGRESS', 'The key is written down already.', { definite: false });

const isOfServers = (error: unknown) => isRefused(error) || awayServer(error) !== undefined;

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
