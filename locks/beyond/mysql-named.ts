// Beyond · mysql-named
// Problem: a lock table needs a row for every lock, and a transaction that stays open while the lock is held.
// Change:  GET_LOCK locks a name, without a table or a transaction; the lock belongs to the connection.
// Leaves:  the lock exists only in one server's memory, and a broken connection frees it while its holder is still working.

import type { RowDataPacket } from 'mysql2/promise';
import { type MysqlSession, openSession } from '../drivers/mysql-session.ts';
import { sharedInRequest } from '../drivers/same-request.ts';
import { LockNotHeldError } from '../lock.ts';

/** How long one GET_LOCK waits before the next one, in seconds. */
const AN_HOUR = 3600;
/** All databases of a server share one set of lock names, of at most 64 characters each: the length of this hash. */
const name = "SHA2(CONCAT(DATABASE(), ':', ?), 256)";
const getLock = `SELECT GET_LOCK(${name}, ?) AS answer`;
const releaseLock = `SELECT RELEASE_LOCK(${name}) AS answer`;

export const createLock = sharedInRequest(({ mysql, key, onLeaseLost }) => {
  const lost = new AbortController();
  let holdCount = 0;
  let held: MysqlSession | undefined;

  async function acquire(signal?: AbortSignal) {
    if (held === undefined) {
      const session = await openSession(mysql, signal);
      try {
        let isOurs = await isDone(session.ask(getLock, [key, 0]));
        // Rejects if that was the single try.
        while (!isOurs) isOurs = await isDone(session.wait(getLock, [key, AN_HOUR], signal));
        session.onLost(lose);
        held = session;
      } catch (error) {
        session.close();
        throw error;
      }
    }
    holdCount += 1;
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
      if (!(await isDone(session.ask(releaseLock, [key])))) throw new LockNotHeldError(key);
      session.giveBack();
    } catch {
      session.close();
      throw new LockNotHeldError(key);
    }
  }

  return { acquire, release, lost: lost.signal };
});

/** Both functions return 1 for yes. */
async function isDone(answer: Promise<RowDataPacket[]>) {
  return (await answer)[0]?.answer === 1;
}
