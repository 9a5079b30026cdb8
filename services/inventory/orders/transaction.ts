import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'mysql2/promise';
import { isRefused, type MysqlSession, withSession } from '../../../locks/drivers/mysql-session.ts';
import { isMysqlSilent, isMysqlUnavailable, reasonOf } from '../away-server.ts';
import { ProblemError } from '../problem.ts';

/** How long a statement or a transaction waits for a connection of a pool that is busy, in milliseconds. */
const CONNECTION_LIMIT_MS = 2_000;
const MAX_TRIES = 5;
/** The longest pause before the next try, in milliseconds. Two that met must not meet again. */
const RETRY_DELAY_MS = 20;

export type Ask = MysqlSession['ask'];

/** True when COMMIT was sent and not answered: whether the transaction took place is not known. */
export const isInDoubt = (error: unknown) =>
  error instanceof ProblemError && error.code === 'STORE_UNAVAILABLE' && !error.problem.definite;

/**
 * Has `work` done in one transaction, from the beginning again after a deadlock or a wait too long for
 * a row. Rejects with ProblemError STORE_UNAVAILABLE, not definite, when nobody knows whether it took
 * place; after every other rejection it has not: with ProblemError TOO_MANY_CONFLICTS after five tries.
 */
export function inTransaction<T>(mysql: Pool, work: (ask: Ask) => Promise<T>): Promise<T> {
  return withoutTransaction(mysql, async (ask) => {
    await ask('START TRANSACTION');
    const result = await work(ask);
    await ask('COMMIT').catch((cause) => {
      if (isRefused(cause) || !isMysqlUnavailable(cause)) throw cause;
      const detail = 'MySQL did not answer whether it has written.';
      throw new ProblemError('STORE_UNAVAILABLE', detail, { definite: false, cause });
    });
    return result;
  });
}

/**
 * Has `work` done in statements that are each a transaction. Rejects as `inTransaction`, but for COMMIT: one that was
 * sent and not answered may have written. Rejects with AbortError when `signal` aborts before the work has begun.
 */
export async function withoutTransaction<T>(mysql: Pool, work: (ask: Ask) => Promise<T>, signal?: AbortSignal) {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await withPatience(mysql, signal, (patience) => withSession(mysql, patience, ({ ask }) => work(ask)));
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    await sleep(Math.random() * RETRY_DELAY_MS);
  }
  throw new ProblemError('TOO_MANY_CONFLICTS', `Others wrote to the same rows at the same time, ${MAX_TRIES} times.`);
}

const limits = new WeakMap<Pool, Set<AbortController>>();

/**
 * Gives `work` a signal that ends its wait for a connection: `signal` aborts, the pool is busy for too long,
 * or MySQL leaves another of the pool without an answer. Work that has a connection waits for its own answer.
 */
async function withPatience<T>(mysql: Pool, signal: AbortSignal | undefined, work: (limit: AbortSignal) => Promise<T>) {
  const all = limits.get(mysql) ?? new Set();
  limits.set(mysql, all);
  const limit = new AbortController();
  const busy = new ProblemError('STORE_UNAVAILABLE', `MySQL had no connection free within ${CONNECTION_LIMIT_MS} ms.`);
  const timer = setTimeout(() => limit.abort(busy), CONNECTION_LIMIT_MS);
  all.add(limit);
  try {
    return await work(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (isMysqlSilent(error)) {
      const silent = new ProblemError('STORE_UNAVAILABLE', 'MySQL does not answer.', { cause: error });
      for (const each of all) each.abort(silent);
    }
    throw limit.signal.aborted ? reasonOf(error) : error;
  } finally {
    clearTimeout(timer);
    all.delete(limit);
  }
}
