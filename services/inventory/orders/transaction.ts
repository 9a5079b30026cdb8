import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'mysql2/promise';
import { isRefused, type MysqlSession, withSession } from '../../../locks/drivers/mysql-session.ts';
import { isMysqlSilent, isMysqlUnavailable } from '../mysql-errors.ts';
import { ProblemError } from '../problem.ts';

/** How long a statement or a transaction waits for a connection of a pool that is busy, in milliseconds. */
const CONNECTION_LIMIT_MS = 2_000;
const MAX_TRIES = 5;
/** The longest pause before the next try, in milliseconds. Two that met must not meet again. */
const RETRY_DELAY_MS = 20;

export type Ask = MysqlSession['ask'];

/** COMMIT was sent and not answered: whether the transaction took place is not known. */
export class CommitUnansweredError extends Error {
  readonly code = 'COMMIT_UNANSWERED';
}

/** Has `work` done in statements that are each a transaction of its own. Rejects as `inTransaction`, but for COMMIT. */
export function withoutTransaction<T>(mysql: Pool, work: (ask: Ask) => Promise<T>, signal?: AbortSignal): Promise<T> {
  return withTries(() =>
    withPatience(mysql, signal, (patience) => withSession(mysql, patience, ({ ask }) => work(ask))),
  );
}

/**
 * Has `work` done in one transaction; from the beginning again when it met others in a deadlock or waited too long for a
 * row. Rejects with CommitUnansweredError when nobody knows whether it took place. After every other rejection it has not:
 * with ProblemError TOO_MANY_CONFLICTS after five tries, and with AbortError when `signal` aborts before it has begun.
 */
export function inTransaction<T>(mysql: Pool, work: (ask: Ask) => Promise<T>, signal?: AbortSignal): Promise<T> {
  return withTries(() =>
    withPatience(mysql, signal, (patience) =>
      withSession(mysql, patience, async ({ ask }) => {
        await ask('START TRANSACTION');
        const result = await work(ask);
        await ask('COMMIT').catch((cause) => {
          if (isRefused(cause) || !isMysqlUnavailable(cause)) throw cause;
          throw new CommitUnansweredError('MySQL did not answer whether it has written.', { cause });
        });
        return result;
      }),
    ),
  );
}

async function withTries<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    await sleep(Math.random() * RETRY_DELAY_MS);
  }
  const detail = `Others wrote to the same rows at the same time, ${MAX_TRIES} times.`;
  throw new ProblemError('TOO_MANY_CONFLICTS', detail);
}

/** How to end the waits for a connection of a pool that is silent: one function for each that waits, or works with one. */
const waiting = new WeakMap<Pool, Set<(why: ProblemError) => void>>();

/**
 * Has `work` done with a signal that ends its wait for a connection: when `signal` aborts, when the pool is busy for too long,
 * and as soon as MySQL leaves anybody else of the pool without an answer. Work that has a connection waits for its own answer.
 */
async function withPatience<T>(
  mysql: Pool,
  signal: AbortSignal | undefined,
  work: (patience: AbortSignal) => Promise<T>,
) {
  const others = waiting.get(mysql) ?? new Set();
  waiting.set(mysql, others);
  const limit = new AbortController();
  const giveUp = (why: ProblemError) => limit.abort(why);
  const busy = new ProblemError('STORE_UNAVAILABLE', `MySQL had no connection free within ${CONNECTION_LIMIT_MS} ms.`);
  const timer = setTimeout(giveUp, CONNECTION_LIMIT_MS, busy);
  others.add(giveUp);
  try {
    return await work(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    const hasGivenUp = limit.signal.aborted && error instanceof Error && error.cause === limit.signal.reason;
    if (hasGivenUp) throw limit.signal.reason;
    if (isMysqlSilent(error)) {
      const silent = new ProblemError('STORE_UNAVAILABLE', 'MySQL does not answer.', { cause: error });
      for (const giveUp of others) giveUp(silent);
    }
    throw error;
  } finally {
    clearTimeout(timer);
    others.delete(giveUp);
  }
}
