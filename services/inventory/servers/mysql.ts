import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolConnection } from 'mysql2';
import {
  createConnection,
  createPool,
  type Pool,
  type QueryResult,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';
import { ANSWER_LIMIT_MS } from '../../../locks/drivers/answer-limit.ts';
import { isAnswer, isMysqlSilent } from '../../../locks/drivers/mysql-errors.ts';
import { endWaits, withSession } from '../../../locks/drivers/mysql-session.ts';
import { ProblemError } from '../problem.ts';
import { askWhenInDoubt, type Outage } from './outage-log.ts';
import type { Stock } from './store.ts';
import { withoutTransaction } from './transaction.ts';

const END_LIMIT_MS = 200;
/** The time limit for creating all tables, in milliseconds. Callers wait no longer than for a connection. */
const TABLES_LIMIT_MS = 5_000;

/** The statements of a SQL file, without its comments. */
export const readSchema = (file: URL) =>
  readFileSync(file, 'utf8')
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

export const stockTables = () => readSchema(new URL('schema.sql', import.meta.url));

/** mysql2 escapes a quote as \', which would end the value on a server with NO_BACKSLASH_ESCAPES. */
const quotesByBackslash = "SET SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')";

/** Adds units to a sku's stock, and creates it if there is none: sku, units. */
export const restockIt = `INSERT INTO tb_stock (sku, stock) VALUES (?, ?)
  ON DUPLICATE KEY UPDATE stock = stock + VALUES(stock), version = version + 1`;

/** The mysql2 options for a MYSQL_URL: with mysqls:// always over TLS. The certificate must be that of the host. */
export const mysqlAddress = (url: string) => ({
  uri: url.replace(/^mysqls:/, 'mysql:'),
  ...(url.startsWith('mysqls:') && { ssl: { verifyIdentity: true } }),
});

/**
 *
 * A pool that connects and creates the tables on first use. `inDoubt` is called whenever a connection ends, can't be opened, or
 * leaves a statement without a reply.
 *
 */
export function connectMysql(url: string, connections: number, tables = stockTables(), inDoubt = () => {}): Pool {
  const pool = createPool({ ...mysqlAddress(url), ...poolOptions, connectionLimit: connections });
  const mustHaveTables = createTableMaker(url, tables);
  const ready = new WeakSet<PoolConnection>();
  const { getConnection } = pool.pool;
  let silence: NodeJS.ErrnoException | undefined;
  // Its borrower gets a connection that is ready: mysql2 counts the time of a statement from when
  // those before it are answered.
  pool.pool.getConnection = (callback) => {
    const fail = (error: NodeJS.ErrnoException) => {
      callback(error, undefined as never);
      // Not again for each of those whose wait it ends.
      if (isMysqlSilent(error) && silence === undefined) endAllWaits(error);
    };
    if (silence) return callback(silence, undefined as never);
    getConnection.call(pool.pool, (error, connection) => {
      if (error) inDoubt();
      if (error) return fail(error);
      if (ready.has(connection)) return callback(null, connection);
      makeReady(connection).then(
        () => callback(null, connection),
        (error) => {
          connection.destroy();
          fail(error);
        },
      );
    });
  };

  /** Including the caller that mysql2 has just taken out of its queue to connect. */
  function endAllWaits(why: NodeJS.ErrnoException) {
    silence = why;
    process.nextTick(() => (silence = undefined));
    endWaits(pool, why);
  }

  async function makeReady(connection: PoolConnection) {
    await connection.promise().query({ sql: quotesByBackslash, timeout: ANSWER_LIMIT_MS });
    await mustHaveTables();
    ready.add(connection);
  }

  // Connections that we end ourselves when the node stops say nothing of MySQL.
  const unlessEnding = () => ending.has(pool) || inDoubt();
  pool.pool.on('connection', (connection) => {
    // Only its inside shows the end of one that we close ourselves, because an answer did not come:
    // our side has finished, and a server that stands still never closes its own.
    (connection as typeof connection & { stream: Socket }).stream
      .once('finish', unlessEnding)
      .once('error', unlessEnding);
    // A statement that is under way rejects.
    connection.on('error', () => {});
  });
  return pool;
}

const poolOptions = {
  connectTimeout: ANSWER_LIMIT_MS,
  enableKeepAlive: true,
  timezone: 'Z',
  multipleStatements: false,
};

/**
 *
 * Creates tables on a separate connection, once, for all callers. Rejects if MySQL does not reply or does not finish in time,
 * for instance because a table is locked. If MySQL refuses to create a table, the statements that need it will fail.
 *
 */
function createTableMaker(url: string, tables: string[]): () => Promise<void> {
  let isDone = false;
  let making: Promise<void> | undefined;

  async function make() {
    const limit = AbortSignal.timeout(TABLES_LIMIT_MS);
    const own = createPool({ ...mysqlAddress(url), ...poolOptions, connectionLimit: 1 });
    own.pool.on('connection', (connection) => connection.on('error', () => {}));
    try {
      isDone = await withSession(own, limit, ({ wait }) => makeAll((statement) => wait(statement, [], limit)));
    } catch (cause) {
      if (!limit.aborted) throw cause;
      const detail = `MySQL did not create its tables within ${TABLES_LIMIT_MS} ms.`;
      throw new ProblemError('STORE_UNAVAILABLE', detail, { cause });
    } finally {
      own.end().catch(() => {});
    }
  }

  /** Resolves with false if one of them was refused. */
  async function makeAll(ask: (statement: string) => Promise<unknown>) {
    let isRefused = false;
    for (const statement of tables) {
      await ask(statement).catch((error) => {
        if (!isAnswer(error)) throw error;
        isRefused = true;
      });
    }
    return !isRefused;
  }

  return async () => {
    if (isDone) return;
    making ??= make().finally(() => {
      making = undefined;
    });
    await making;
  };
}

/** Call the result when MySQL may be unavailable. Each check uses its own connection: pooled connections may all be waiting. */
export function watchMysql(url: string, outage: Outage) {
  return askWhenInDoubt(async () => {
    const own = await createConnection({ ...mysqlAddress(url), connectTimeout: ANSWER_LIMIT_MS });
    own.on('error', () => {});
    try {
      await own.query({ sql: 'SELECT 1', timeout: ANSWER_LIMIT_MS });
    } finally {
      own.destroy();
    }
  }, outage);
}

const ending = new WeakSet<Pool>();

/** Closes a pool's connections. Those still open after 200 ms are destroyed, and MySQL releases what they hold. */
export async function endPool(pool: Pool) {
  ending.add(pool);
  await Promise.race([pool.end().catch(() => {}), sleep(END_LIMIT_MS)]);
}

export type StockInMysql = ReturnType<typeof stockInMysql>;

export function stockInMysql(pool: Pool) {
  const ask = <T extends QueryResult>(sql: string, ...values: unknown[]) =>
    withoutTransaction(pool, (ask) => ask<T>(sql, values));
  return {
    readStock: async (sku) => (await ask<RowDataPacket[]>('SELECT stock FROM tb_stock WHERE sku = ?', sku))[0]?.stock,
    async writeStock(sku, stock) {
      const sql = `INSERT INTO tb_stock (sku, stock) VALUES (?, ?)
        ON DUPLICATE KEY UPDATE stock = ?, version = version + 1`;
      await ask(sql, sku, stock, stock);
    },
    async addStock(sku, units) {
      const sql = 'UPDATE tb_stock SET stock = stock + ?, version = version + 1 WHERE sku = ?';
      return (await ask<ResultSetHeader>(sql, units, sku)).affectedRows === 1;
    },
    restock: async (sku, units) => void (await ask(restockIt, sku, units)),
    deleteStock: async (sku) => void (await ask('DELETE FROM tb_stock WHERE sku = ?', sku)),
    /** Takes a unit in one statement. Resolves with the rest, undefined if there was none. */
    async takeOne(sku: string): Promise<number | undefined> {
      // LAST_INSERT_ID(x) is x, and comes with the answer: what this very statement has left.
      const sql = `UPDATE tb_stock SET stock = LAST_INSERT_ID(stock - 1), version = version + 1
        WHERE sku = ? AND stock > 0`;
      const { affectedRows, insertId } = await ask<ResultSetHeader>(sql, sku);
      return affectedRows === 1 ? insertId : undefined;
    },
  } satisfies Stock & Record<'takeOne', unknown>;
}
