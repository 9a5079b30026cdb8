// Beyond · mysql-lock-table
// Problem: a paused process cannot renew its lease, and resumes believing it still holds the lock.
// Change:  the lock is a row lock on tb_lock in MySQL, held while a transaction is open: there is no lease that could expire.
// Leaves:  a paused holder keeps everyone waiting, and a broken connection frees the row while its holder is still working.

import type { RowDataPacket } from 'mysql2/promise';
import { throwIfAborted } from '../drivers/abortable.ts';
import { ANSWER_LIMIT_MS } from '../drivers/answer-limit.ts';
import { isRefused, isTaken } from '../drivers/mysql-errors.ts';
import { type MysqlSession, openSession } from '../drivers/mysql-session.ts';
import { sharedInRequest } from '../drivers/same-request.ts';
import { LockNotHeldError } from '../lock.ts';

export const createLock = sharedInRequest(({ mysql, key, onLeaseLost }) => {
  const lost = new AbortController();
  let holdCount = 0;
  let held: MysqlSession | undefined;

  async function acquire(signal?: AbortSignal) {
    const isOneTry = signal?.aborted === true;
    while (held === undefined) {
      const session = await openSession(mysql, signal);
      try {
        await lockRow(session, isOneTry, signal);
        session.onLost(lose);
        held = session;
      } catch (error) {
        session.close();
        if (isOneTry && isTaken(error)) throwIfAborted(signal);
        if (!isRefused(error)) throw error;
      }
    }
    holdCount += 1;
  }

  async function lockRow(session: MysqlSession, isOneTry: boolean, signal?: AbortSignal) {
    // Even a single try waits for a row that another session has just inserted and locked.
    const patience = isOneTry ? AbortSignal.timeout(ANSWER_LIMIT_MS) : signal;
    const lockIt = `SELECT resource FROM tb_lock WHERE resource = ? FOR UPDATE${isOneTry ? ' NOWAIT' : ''}`;
    await session.ask('START TRANSACTION');
    while ((await session.wait<RowDataPacket[]>(lockIt, [key], patience)).length === 0) {
      // First release the gap lock that REPEATABLE READ takes on a missing row: with it, two sessions block each other's insert.
      await session.ask('ROLLBACK');
      await session.wait('INSERT IGNORE INTO tb_lock (resource) VALUES (?)', [key], patience);
      await session.ask('START TRANSACTION');
    }
  }

  function lose() {
    if (held === undefined) return;
    held.close();
    held = undefined;
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    if (held === undefined) throw new LockNotHeldError(key);
    if (holdCount > 0) return;
    const session = held;
    held = undefined;
    try {
      await session.ask('COMMIT');
      session.giveBack();
    } catch {
      session.close();
      throw new LockNotHeldError(key);
    }
  }

  return { acquire, release, lost: lost.signal };
});
