// Orders that the clean-up can never do, each with the reason: it is tried a few times, and then left alone until somebody has mended it.

import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { ProblemError } from '../problem.ts';
import { withoutTransaction } from './transaction.ts';

const MOST_TRIES = 5;

/** The longest reason that is kept, in characters. */
const MAX_REASON_LENGTH = 500;

/** SQL: true for the `id` of an order that is still tried. */
export const isTried = `id NOT IN (SELECT order_id FROM tb_dead_letter WHERE tries >= ${MOST_TRIES})`;

/** Resolves with the orders that are left alone, each with the reason, the oldest first. */
export const readDeadLetters = (mysql: Pool) =>
  withoutTransaction(mysql, (ask) =>
    ask<RowDataPacket[]>(
      'SELECT order_id AS id, reason FROM tb_dead_letter WHERE tries >= ? ORDER BY changed_at, order_id',
      [MOST_TRIES],
    ),
  );

/** True for what does not pass by itself, as a server that is away does, or a lock that is not free. */
export const isHopeless = ({ code }: ProblemError) => code === 'INTERNAL_ERROR' || code === 'DATA_UNREADABLE';

/** Counts one try of these orders that failed for `reason`. Resolves with the ids of those that are left alone from now on. */
export async function countFailure(mysql: Pool, ids: string[], reason: string): Promise<string[]> {
  const rows = ids.map(() => '(?, 1, ?, UTC_TIMESTAMP(3))').join();
  const insert = `INSERT INTO tb_dead_letter (order_id, tries, reason, changed_at) VALUES ${rows}
    ON DUPLICATE KEY UPDATE tries = tries + 1, reason = VALUES(reason), changed_at = VALUES(changed_at)`;
  const select = 'SELECT order_id FROM tb_dead_letter WHERE order_id IN (?) AND tries = ?';
  return withoutTransaction(mysql, async (ask) => {
    await ask(
      insert,
      ids.flatMap((id) => [id, reason.slice(0, MAX_REASON_LENGTH)]),
    );
    return (await ask<RowDataPacket[]>(select, [ids, MOST_TRIES])).map(({ order_id }) => order_id);
  });
}
