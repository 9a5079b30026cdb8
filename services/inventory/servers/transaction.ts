import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, QueryResult } from 'mysql2/promise';
import { isRefused } from '../../../locks/drivers/mysql-errors.ts';
import { type MysqlSession, withSession } from '../../../locks/drivers/mysql-session.ts';
import { ProblemError } from '../problem.ts';
import { isMysqlUnavailable, reasonOf } from './away-server.ts';

/**
 *
 * The time limit for statements or a transaction, including the wait for a pooled connection and all tries, in milliseconds.
 * The last statement starts before it, and has the usual limit of a statement.
 *
 */
const LIMIT_MS = 2_000;
const MAX_TRIES = 5;
/** The longest pause before the next try, in milliseconds; random, so that two that conflicted do not conflict again. */
const RETRY_DELAY_MS = 20;

export type Ask = MysqlSession['ask'];

/** True if COMMIT was sent but got no reply: the transaction may or may not have taken place. */
export const isInDoubt = (error: unknown) =>
  error instanceof ProblemError && error.code === 'STORE_UNAVAILABLE' && !error.problem.definite;

/**
 *
 * Runs `work` in one transaction, starting over after a deadlock or a lock wait timeout. Rejects with ProblemError
 * STORE_UNAVAILABLE, not definite, if the outcome is unknown; after every other rejection it did not take place: with
 * ProblemError TOO_MANY_CONFLICTS after five tries.
 *
 */
export function inTransaction<T>(mysql: Pool, work: (ask: Ask) => Promise<T>, limitMs?: number): Promise<T> {
  return withoutTransaction(
    mysql,
    async (ask) => {
      await ask('START TRANSACTION');
      const result = await work(ask);
      await ask('COMMIT').catch((cause) => {
        if (isRefused(cause) || !isMysqlUnavailable(cause)) throw cause;
        const detail = 'MySQL did not confirm the write.';
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
 *
 * Runs `work` in statements that are each a transaction. Rejects like `inTransaction`, but any statement that got no reply may
 * have written. Rejects with AbortError if `signal` aborts before the work has started.
 *
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
  throw new ProblemError(
    'TOO_MANY_CONFLICTS',
    `Other transactions wrote to the same rows at the same time, ${MAX_TRIES} times.`,
  );
}

/** Statements that were sent wait for their reply. */
const within =
  (ask: Ask, limit: AbortSignal): Ask =>
  async <T extends QueryResult>(...args: Parameters<Ask>) => {
    limit.throwIfAborted();
    return ask<T>(...args);
  };
