import type { Pool, ResultSetHeader } from 'mysql2/promise';
import { withoutTransaction } from '../transaction.ts';

/** How many rows one DELETE takes, so that none holds others up for long. */
const ROWS_AT_ONCE = 1_000;

/** Deletes the keys that have been kept for long enough. */
export async function forgetOldKeys(mysql: Pool) {
  const sql = `DELETE FROM tb_request WHERE kept_until <= UTC_TIMESTAMP(3) LIMIT ${ROWS_AT_ONCE}`;
  const forgetSome = async () => (await withoutTransaction(mysql, (ask) => ask<ResultSetHeader>(sql))).affectedRows;
  while ((await forgetSome()) === ROWS_AT_ONCE);
}
