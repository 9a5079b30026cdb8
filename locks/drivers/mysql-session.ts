// A session with MySQL: one connection of the pool, whose statements can be ended while they wait.

import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Pool, type PoolConnection, type QueryResult, type RowDataPacket } from 'mysql2/promise';
import { abortable, abortError, throwIfAborted } from './abortable.ts';
import { ANSWER_LIMIT_MS } from './answer-limit.ts';
import { codeOf, isAnswer, isMysqlSilent } from './mysql-errors.ts';

/** How long a statement that was asked to end may go on before it is asked again, in milliseconds. */
const KILL_AGAIN_MS = 10;

export type MysqlSession = Awaited<ReturnType<typeof openSession>>;

/**
 * Borrows a connection. Rejects with AbortError when `signal` aborts before one is free; one aborted already waits 700 ms at most.
 * Rejects, too, when MySQL leaves another connection of the pool without an answer meanwhile.
 */
export async function openSession(mysql: Pool, signal?: AbortSignal) {
  const patience = signal?.aborted ? AbortSignal.timeout(ANSWER_LIMIT_MS) : signal;
  const connection = await abortable(mysql.getConnection(), patience, (late) => late.release());
  const self = await threadOf(connection).catch((error) => {
    // First: a place that is given free lets the next one try in vain.
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
    // Rejects when it has aborted already.
    throwIfAborted(signal);
    let onAbort = () => {};
    let isOver = false;
    const notKilled = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        isKilled = true;
        const asked = killStatement(connection, self, () => isOver);
        // One that only waits is left behind if it goes on. Any other has a limit of its own.
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

  /** Ends the connection, whatever it is doing. The server then rolls back and frees its locks. */
  function close() {
    leave();
    connection.destroy();
    if (isUnanswered) withOtherConnection(connection, self, (order) => order('KILL')).catch(() => {});
  }

  return {
    /** Sends a statement that waits for nobody. Rejects with AbortError when `signal` aborts first: it has then changed nothing. */
    ask: <T extends QueryResult>(sql: string, values: unknown[] = [], signal?: AbortSignal) =>
      send<T>(sql, values, signal, ANSWER_LIMIT_MS),
    /** Sends a statement that waits for a lock, as long as it takes. Settles as `ask` does. After an AbortError, close the session. */
    async wait<T extends QueryResult>(sql: string, values: unknown[] = [], signal?: AbortSignal) {
      const answer = await send<T>(sql, values, signal);
      // The answer may have come when the order to end the statement was on its way.
      throwIfAborted(signal);
      return answer;
    },
    /** Has `listener` called if the connection breaks while it is ours. */
    onLost(listener: () => void) {
      onLost = listener;
    },
    /** Gives the connection back to the pool. It must have no lock and no open transaction. */
    giveBack() {
      // An order to end a statement that is late would end the next borrower's.
      if (isKilled) return close();
      leave();
      connection.release();
    },
    close,
  };
}

/** Rejects those that wait for a connection of the pool, which would have each try in vain. Only its inside knows them. */
export function endWaits({ pool }: Pool, why: unknown) {
  const { _connectionQueue: waits } = pool as unknown as { _connectionQueue: Queue };
  for (let wait = waits.shift(); wait; wait = waits.shift()) wait(why);
}

interface Queue {
  shift(): ((error: unknown) => void) | undefined;
}

/** Has `work` done on a connection of its own, which is closed when it rejects: what it has not committed is undone. */
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

/** A connection as its server knows it: by its number there, and by the address that it comes from. */
interface Thread {
  number: number;
  origin: string;
}

const threads = new WeakMap<object, Thread>();
/** Behind some proxies a connection is not listed by its number. Nothing ends its statements then. */
const unlisted: Thread = { number: 0, origin: '' };

/** Asks the server, once for each connection: a proxy tells the client a number of its own. */
async function threadOf(connection: PoolConnection): Promise<Thread> {
  // What a pool lends is a new object each time, around the connection.
  const known = threads.get(connection.connection);
  if (known) return known;
  const sql = 'SELECT id AS number, host AS origin FROM information_schema.processlist WHERE id = CONNECTION_ID()';
  const [[self = unlisted]] = await connection.query<(RowDataPacket & Thread)[]>({ sql, timeout: ANSWER_LIMIT_MS });
  threads.set(connection.connection, self);
  return self;
}

/**
 * Ends the statement that `connection` waits for, or gives up after 700 ms. Closing our side would not
 * end it: the server looks at it after the wait.
 */
async function killStatement(connection: PoolConnection, self: Thread, isOver: () => boolean) {
  const giveUpAt = performance.now() + ANSWER_LIMIT_MS;
  await withOtherConnection(connection, self, async (order) => {
    while (!isOver() && performance.now() < giveUpAt) {
      // An order that comes before the statement does is lost.
      await order('KILL QUERY');
      await sleep(KILL_AGAIN_MS);
    }
  });
}

/** Not from the pool: all its connections may be waiting. */
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
    // Through a proxy, or in a cluster, it may lead to another server, where the number is somebody else's.
    const sql = 'SELECT 1 FROM information_schema.processlist WHERE id = ? AND host = ?';
    if ((await ask(sql, [number, origin])).length > 0) await work((what) => ask(`${what} ${number}`));
  } finally {
    other.destroy();
  }
}
