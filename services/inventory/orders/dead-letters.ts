// Dead-lettered orders, each with the reason: the cleanup job tried them a few times, and skips them until somebody fixes them.

import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { Logger } from 'pino';
import { asProblem } from '../servers/away-server.ts';
import { withoutTransaction } from '../servers/transaction.ts';
import type { DueOrder } from './jobs/job.ts';

const MOST_TRIES = 5;

const MAX_REASON_LENGTH = 500;

const ofLetters = `FROM tb_dead_letter WHERE tries >= ${MOST_TRIES}`;

/** SQL: true for the `id` of an order that has not been dead-lettered. */
export const isTried = `id NOT IN (SELECT order_id ${ofLetters})`;

/** Resolves with the dead-lettered orders, each with the reason, oldest first. */
export const readDeadLetters = (mysql: Pool) =>
  withoutTransaction(mysql, (ask) =>
    ask<RowDataPacket[]>(`SELECT order_id AS id, reason ${ofLetters} ORDER BY changed_at, order_id`),
  );

/**
 * Counts a failed try of these orders, unless the cause is temporary: a server that is unavailable, or a lock that is not free.
 */
export async function noteFailure(mysql: Pool, log: Pick<Logger, 'warn'>, orders: DueOrder[], error: unknown) {
  const { code, message, cause } = asProblem(error);
  if (code !== 'INTERNAL_ERROR' && code !== 'DATA_UNREADABLE') return;
  const why = cause instanceof Error ? cause.message : message;
  const insert = `INSERT INTO tb_dead_letter (order_id, tries, reason, changed_at) VALUES (?, 1, ?, UTC_TIMESTAMP(3))
    ON DUPLICATE KEY UPDATE tries = tries + 1, reason = VALUES(reason), changed_at = VALUES(changed_at)`;
  const select = `SELECT tries ${ofLetters} AND order_id = ?`;
  await withoutTransaction(mysql, async (ask) => {
    for (const { id } of orders) {
      await ask(insert, [id, why.slice(0, MAX_REASON_LENGTH)]);
      const [letter] = await ask<RowDataPacket[]>(select, [id]);
      if (letter?.tries === MOST_TRIES) log.warn({ order: id, why }, 'an order is dead-lettered');
    }
  });
}
