import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, QueryResult } from 'mysql2/promise';
import { isRefused } from '../../../locks/drivers/mysql-errors.ts';
import { type MysqlSession, withSession } from '../../../locks/drivers/mysql-session.ts';
import { ProblemError } from '../problem.ts';
import { isMysqlUnavailable, reasonOf } from './away-server.ts';

/**
 * How long statements or a transaction may take, the wait for a connection of a busy pool and all tries together, in
 * milliseconds. The last statement begins by then, and has the limit of each.
 */
const LIMIT_MS = 2_000;
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
export function inTransaction<T>(mysql: Pool, work: (ask: Ask) => Promise<T>, limitMs?: number): Promise<T> {
  return withoutTransaction(
    mysql,
    async (ask) => {
      await ask('START TRANSACTION');
      const result = await work(ask);
      await ask('COMMIT').catch((cause) => {
        if (isRefused(cause) || !isMysqlUnavailable(cause)) throw cause;
        const detail = 'MySQL did not answer whether it has written.';
        throw new ProblemError('STORE_UNAVAILABLE', detail, { definite: false, cause });
      });
      return result;
    },
    { limitMs },
  );
}

interface Patience {
  signal?: AbortSignal;
  /** In milliseconds. */
  limitMs?: number | undefined;
}

/**
 * Has `work` done in statements that are each a transaction. Rejects as `inTransaction`, but for COMMIT: one that was
 * sent and not answered may have written. Rejects with AbortError when `signal` aborts before the work has begun.
 */
export async function withoutTransaction<T>(
  mysql: Pool,
  work: (ask: Ask) => Promise<T>,
  { signal, limitMs = LIMIT_MS }: Patience = {},
): Promise<T> {
  const limit = new AbortController();
  const slow = new ProblemError('STORE_UNAVAILABLE', `MySQL took longer than ${limitMs} ms.`);
  const timer = setTimeout(() => limit.abort(slow), limitMs);
  const patience = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  try {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      try {
        return await withSession(mysql, patience, ({ ask }) => work(within(ask, limit.signal)));
      } catch (error) {
        if (!isRefused(error)) throw limit.signal.aborted ? reasonOf(error) : error;
      }
      await sleep(Math.random() * RETRY_DELAY_MS);
    }
  } finally {
    clearTimeout(timer);
  }
  throw new ProblemError('TOO_MANY_CONFLICTS', `Others wrote to the same rows at the same time, ${MAX_TRIES} times.`);
}

/** Statements that have begun wait for their own answer. */
const within =
  (ask: Ask, limit: AbortSignal): Ask =>
  async <T extends QueryResult>(...args: Parameters<Ask>) => {
    limit.throwIfAborted();
    return ask<T>(...args);
  };
