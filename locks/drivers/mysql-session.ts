// A MySQL session: one pooled connection whose statements can be killed while they wait.

import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Pool, type PoolConnection, type QueryResult, type RowDataPacket } from 'mysql2/promise';
import { abortable, abortError, throwIfAborted } from './abortable.ts';
import { ANSWER_LIMIT_MS } from './answer-limit.ts';
import { codeOf, isAnswer, isMysqlSilent } from './mysql-errors.ts';

/** How long a killed statement may keep running before it is killed again, in milliseconds. */
const KILL_AGAIN_MS = 10;

export type MysqlSession = Awaited<ReturnType<typeof openSession>>;

/**
 * Borrows a connection. Rejects with AbortError if `signal` aborts before one is free; if it has already aborted, waits at most
 * 700 ms. Also rejects if MySQL does not reply on another connection of the pool meanwhile.
 */
export async function openSession(mysql: Pool, signal?: AbortSignal) {
  const patience = signal?.aborted ? AbortSignal.timeout(ANSWER_LIMIT_MS) : signal;
  const connection = await abortable(mysql.getConnection(), patience, (late) => late.release());
  const self = await threadOf(connection).catch((error) => {
    // Before the slot becomes free: it would only let the next one try in vain.
    if (isMysqlSilent(error)) endWaits(mysql, error);
    connection.destroy();
    throw error;
  });
  let isUnanswered = false;
  let isKilled = false;
  let onLost = () => {};
  const emitLost = () => onLost();
  connection.on('end', emitLost);
  connection.on('error', emitLost);

  async function send<T extends QueryResult>(sql: string, values: unknown[], signal?: AbortSignal, timeout?: number) {
    // Rejects if it has already aborted.
    throwIfAborted(signal);
    let onAbort = () => {};
    let isOver = false;
    const notKilled = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        isKilled = true;
        const asked = killStatement(connection, self, () => isOver);
        // A statement that only waits is abandoned if it keeps running. Any other has its own time limit.
        asked.then(() => timeout === undefined && reject(abortError(signal)), reject);
      };
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    isUnanswered = true;
    try {
      const [answer] = await Promise.race([connection.query<T>({ sql, values, timeout }), notKilled]);
      isUnanswered = false;
      return answer;
    } catch (error) {
      isUnanswered = !isAnswer(error);
      if (isMysqlSilent(error)) endWaits(mysql, error);
      if (codeOf(error) === 'ER_QUERY_INTERRUPTED') throwIfAborted(signal);
      throw error;
    } finally {
      isOver = true;
      signal?.removeEventListener('abort', onAbort);
    }
  }

  function leave() {
    connection.off('end', emitLost);
    connection.off('error', emitLost);
  }

  /** Closes the connection, whatever it is doing. The server then rolls back and releases its locks. */
  function close() {
    leave();
    connection.destroy();
    if (isUnanswered) withOtherConnection(connection, self, (order) => order('KILL')).catch(() => {});
  }

  return {
    /**
     * Sends a statement that does not wait for a lock. Rejects with AbortError, having changed nothing, if `signal` aborts
     * first.
     */
    ask: <T extends QueryResult>(sql: string, values: unknown[] = [], signal?: AbortSignal) =>
      send<T>(sql, values, signal, ANSWER_LIMIT_MS),
    /**
     * Sends a statement that waits for a lock as long as it takes. Settles like `ask`. After an AbortError, close the session.
     */
    async wait<T extends QueryResult>(sql: string, values: unknown[] = [], signal?: AbortSignal) {
      const answer = await send<T>(sql, values, signal);
      // The reply may have arrived while the KILL was on its way.
      throwIfAborted(signal);
      return answer;
    },
    /** Calls `listener` if the connection breaks while it is ours. */
    onLost(listener: () => void) {
      onLost = listener;
    },
    /** Returns the connection to the pool. It must have no lock and no open transaction. */
    giveBack() {
      // A late KILL would hit the next borrower's statement.
      if (isKilled) return close();
      leave();
      connection.release();
    },
    close,
  };
}

/** Rejects all requests that wait for a pooled connection: each would try in vain. Only the pool's internals list them. */
export function endWaits({ pool }: Pool, why: unknown) {
  const { _connectionQueue: waits } = pool as unknown as { _connectionQueue: Queue };
  for (let wait = waits.shift(); wait; wait = waits.shift()) wait(why);
}

interface Queue {
  shift(): ((error: unknown) => void) | undefined;
}

/** Runs `work` on its own connection. If it rejects, the connection is closed and uncommitted changes are rolled back. */
export async function withSession<T>(mysql: Pool, signal: AbortSignal, work: (session: MysqlSession) => Promise<T>) {
  throwIfAborted(signal);
  const session = await openSession(mysql, signal);
  try {
    const result = await work(session);
    session.giveBack();
    return result;
  } catch (error) {
    session.close();
    throw error;
  }
}

/** A connection as the server identifies it: its ID there, and the address that it comes from. */
interface Thread {
  number: number;
  origin: string;
}

const threads = new WeakMap<object, Thread>();
/** Behind some proxies the server does not list a connection under its ID. Its statements can't be killed then. */
const unlisted: Thread = { number: 0, origin: '' };

/** Asks the server, once per connection: a proxy gives the client a different ID. */
async function threadOf(connection: PoolConnection): Promise<Thread> {
  // The pool wraps the connection in a new object each time.
  const known = threads.get(connection.connection);
  if (known) return known;
  const sql = 'SELECT id AS number, host AS origin FROM information_schema.processlist WHERE id = CONNECTION_ID()';
  const [[self = unlisted]] = await connection.query<(RowDataPacket & Thread)[]>({ sql, timeout: ANSWER_LIMIT_MS });
  threads.set(connection.connection, self);
  return self;
}

/**
 * Kills the statement that `connection` waits for, or gives up after 700 ms. Closing our side would not
 * stop it: the server checks the connection only after the wait.
 */
async function killStatement(connection: PoolConnection, self: Thread, isOver: () => boolean) {
  const giveUpAt = performance.now() + ANSWER_LIMIT_MS;
  await withOtherConnection(connection, self, async (order) => {
    while (!isOver() && performance.now() < giveUpAt) {
      // A KILL that arrives before the statement has no effect.
      await order('KILL QUERY');
      await sleep(KILL_AGAIN_MS);
    }
  });
}

/** Not a pooled connection: all of them may be waiting. */
async function withOtherConnection(
  { config }: PoolConnection,
  { number, origin }: Thread,
  work: (order: (what: 'KILL' | 'KILL QUERY') => Promise<unknown>) => Promise<unknown>,
) {
  const { host, port, user, password, ssl } = config;
  const other = await createConnection({ host, port, user, password, ssl, connectTimeout: ANSWER_LIMIT_MS });
  other.on('error', () => {});
  const ask = async (sql: string, values: unknown[] = []) =>
    (await other.query<RowDataPacket[]>({ sql, values, timeout: ANSWER_LIMIT_MS }))[0];
  try {
    // Through a proxy or in a cluster it may reach another server, where the ID belongs to another client.
    const sql = 'SELECT 1 FROM information_schema.processlist WHERE id = ? AND host = ?';
    if ((await ask(sql, [number, origin])).length > 0) await work((what) => ask(`${what} ${number}`));
  } finally {
    other.destroy();
  }
}
