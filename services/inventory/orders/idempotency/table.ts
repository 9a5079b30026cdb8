// Idempotency · table
// Problem: the lock is released when the first request ends, so a later repeat creates a second order.
// Change:  a table row with the key as primary key: one INSERT wins, and the order's transaction stores the response in the row.
// Leaves:  a second click with a new key or without one creates a second order, and so does a repeat after keepMs.

import { randomUUID } from 'node:crypto';
import type { ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { isMysqlSilent } from '../../../../locks/drivers/mysql-errors.ts';
import { type Ask, withoutTransaction } from '../../servers/transaction.ts';
import { saleLifeMs } from '../../settings/limits.ts';
import { createKeyMemory } from './key-memory.ts';
import type { Answer, CreateOnce, KeyedRequest } from './once.ts';
import { failedForGood, inProgress, mustBeSame, repeat, succeeded } from './once.ts';

/** How often the row may disappear or change its owner while a repeat reads it. */
const MAX_LOOKS = 3;

export const createOnce: CreateOnce = ({ orders: mysql, waitTimeoutMs, keepMs }) => {
  if (mysql === undefined) throw new Error('The table of keys needs a MySQL with orders, and there is none.');
  /** The fingerprints of keys that have a response: such a key can't be reused for something else. */
  const answered = createKeyMemory<string>(10_000);

  return async (request, work) => {
    const { key } = request;
    mustBeSame(answered.get(key) ?? request.fingerprint, request);
    const claim = randomUUID();
    const known = await withoutTransaction(mysql, (ask) => claimKey(ask, request, claim));
    if (known) return known;

    const answerWith = async (ask: Ask, { status, body }: Answer) => {
      const sql = `UPDATE tb_request SET status = ?, body = ?
        WHERE request_key = ? AND claim = ? AND status IS NULL`;
      return (await ask<ResultSetHeader>(sql, [status, body, key, claim])).affectedRows === 1;
    };

    try {
      const result = await work(async (ask, result) => {
        // Another request has taken the key over, so the order would be a second one.
        if (!(await answerWith(ask, succeeded(result)))) throw inProgress(key);
      });
      answered.set(key, request.fingerprint, keepMs);
      return succeeded(result);
    } catch (error) {
      const answer = failedForGood(error);
      // A COMMIT that may be under way holds the row: what this does, it does after it. An answer that is there stays.
      const leave = 'DELETE FROM tb_request WHERE request_key = ? AND claim = ? AND status IS NULL';
      const left = withoutTransaction(mysql, async (ask) =>
        answer ? await answerWith(ask, answer) : await ask(leave, [key, claim]),
      ).catch(() => {});
      if (!isMysqlSilent(error)) await left;
      throw error;
    }
  };

  /** Resolves with undefined if this request must do the work, else with the first request's response. */
  async function claimKey(ask: Ask, request: KeyedRequest, claim: string) {
    const { key, fingerprint } = request;
    /** A first request without a response by then has died, or will find that it is no longer the first. */
    const claimMs = saleLifeMs(waitTimeoutMs());
    for (let looks = 1; looks <= MAX_LOOKS; looks += 1) {
      // IGNORE only says by the number of rows, not by an error, that the key is there.
      const insert = `INSERT IGNORE INTO tb_request (request_key, fingerprint, claim, created_at, claimed_until, kept_until)
        SELECT ?, ?, ?, now, now + INTERVAL ? MICROSECOND, now + INTERVAL ? MICROSECOND
        FROM (SELECT UTC_TIMESTAMP(3) AS now) AS clock`;
      const inserted = await ask<ResultSetHeader>(insert, [key, fingerprint, claim, claimMs * 1_000, keepMs * 1_000]);
      if (inserted.affectedRows === 1) return undefined;

      const select = `SELECT fingerprint, claim, status, body, claimed_until <= UTC_TIMESTAMP(3) AS is_left,
        TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), kept_until) DIV 1000 AS left_ms FROM tb_request WHERE request_key = ?`;
      const [row] = await ask<RowDataPacket[]>(select, [key]);
      if (row && row.left_ms <= 0) {
        await ask('DELETE FROM tb_request WHERE request_key = ? AND claim = ?', [key, row.claim]);
      } else if (row) {
        const answer = row.status === null ? undefined : { status: row.status, body: row.body };
        if (answer) answered.set(key, row.fingerprint, row.left_ms);
        const isLeft = answer === undefined && row.is_left === 1 && row.fingerprint === fingerprint;
        if (!isLeft) return repeat({ fingerprint: row.fingerprint, answer }, request);
        // No answer is committed, so no order is. The old claim is worth nothing from here on.
        const takeOver = `UPDATE tb_request SET claim = ?, claimed_until = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND
          WHERE request_key = ? AND claim = ? AND status IS NULL`;
        const taken = await ask<ResultSetHeader>(takeOver, [claim, claimMs * 1_000, key, row.claim]);
        if (taken.affectedRows === 1) return undefined;
      }
    }
    throw inProgress(key);
  }
};
