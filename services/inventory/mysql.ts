import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool, type QueryResult, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { ANSWER_LIMIT_MS } from '../../locks/drivers/answer-limit.ts';
import { withSession } from '../../locks/drivers/mysql-session.ts';
import { askWhenInDoubt, type Outage } from './outage-log.ts';
import type { Stock } from './store.ts';

const END_LIMIT_MS = 200;

/** The statements of a SQL file, without its comments. */
export const readSchema = (file: URL) =>
  readFileSync(file, 'utf8')
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

export const stockTables = () => readSchema(new URL('schema.sql', import.meta.url));

/** mysql2 writes a quote in a value as \', which ends the value on a server where a backslash is a sign like others. */
const quotesByBackslash = "SET SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')";

/** Puts units into the stock of a sku, and makes it if there is none: sku, units. */
export const restockIt = `INSERT INTO tb_stock (sku, stock) VALUES (?, ?)
  ON DUPLICATE KEY UPDATE stock = stock + VALUES(stock), version = version + 1`;

/** How mysql2 reaches what a MYSQL_URL names: with mysqls:// by TLS, and then never without. The certificate must be that of the host. */
export const mysqlAddress = (url: string) => ({
  uri: url.replace(/^mysqls:/, 'mysql:'),
  ...(url.startsWith('mysqls:') && { ssl: { verifyIdentity: true } }),
});

/**
 * A pool that connects, and makes the tables, when it is first used. Whenever a connection
 * ends, or can't be made, MySQL is asked until it answers, and `outage` is told.
 */
export function connectMysql(url: string, connections: number, tables = stockTables(), outage?: Outage): Pool {
  const pool = createPool({
    ...mysqlAddress(url),
    connectionLimit: connections,
    connectTimeout: ANSWER_LIMIT_MS,
    enableKeepAlive: true,
    timezone: 'Z',
    multipleStatements: false,
  });
  const hello = () => withSession(pool, new AbortController().signal, ({ ask }) => ask('SELECT 1'));
  const ask = outage ? askWhenInDoubt(hello, outage) : () => {};
  // Connections that we end ourselves say nothing of MySQL.
  const inDoubt = () => ending.has(pool) || ask();
  let hasTables = false;
  const { getConnection } = pool.pool;
  pool.pool.getConnection = (callback) =>
    getConnection.call(pool.pool, (error, connection) => {
      if (error) inDoubt();
      callback(error, connection);
    });
  pool.pool.on('connection', (connection) => {
    // Only its inside shows the end of one that we close ourselves, because an answer did not come.
    (connection as typeof connection & { stream: Socket }).stream.once('close', inDoubt);
    // A statement that is under way rejects.
    connection.on('error', () => {});
    // A connection answers in order, so this is done before the first statement of its borrower.
    connection.query(quotesByBackslash, () => {});
    if (hasTables) return;
    const made = tables.map((statement) => connection.promise().query(statement));
    Promise.all(made)
      .then(() => (hasTables = true))
      .catch(() => {});
  });
  return pool;
}

const ending = new WeakSet<Pool>();

/** Ends the connections of a pool. What is still open after 200 ms the system closes, and MySQL frees what it holds. */
export async function endPool(pool: Pool) {
  ending.add(pool);
  await Promise.race([pool.end().catch(() => {}), sleep(END_LIMIT_MS)]);
}

export function stockInMysql(pool: Pool): Stock {
  const ask = async <T extends QueryResult>(sql: string, ...values: unknown[]) =>
    (await pool.query<T>({ sql, timeout: ANSWER_LIMIT_MS, values }))[0];
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
  };
}
