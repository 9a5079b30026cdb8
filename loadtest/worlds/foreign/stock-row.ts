// A stock in a column of a row in MySQL or MariaDB: its place, and how the lab reads and writes it, past the fault proxies.

import { createPool, type RowDataPacket } from 'mysql2/promise';

/** The place of a stock in MySQL. */
export interface RowPlace {
  /** The server and the database, with user and password. */
  url: string;
  table: string;
  column: string;
  /** What the row is known by. Absent where it is the only one. */
  where?: { name: string; value: string } | undefined;
}

export type StockRow = Awaited<ReturnType<typeof openStockRow>>;

/** How long MySQL may take to answer, and a row may be locked when the lab writes it, in seconds. */
const LIMIT_S = 3;
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);
const example = 'mysql://user:password@127.0.0.1:3306/shop?table=goods&column=qty&where=id=42';

export const isRowPlace = (stock: string | undefined): stock is string => /^mysqls?:/.test(stock ?? '');

/** Reads what `--stock mysql://…` says. Throws a sentence, without the password. */
export function readRowPlace(text: string): RowPlace {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'mysql:') throw new Error(`--stock is not understood. Write it as ${example}, without TLS.`);
  if (!loopback.has(url.hostname))
    throw new Error(`--stock names ${url.hostname}, but only a MySQL on this machine can be judged, at 127.0.0.1.`);
  const { searchParams, pathname } = url;
  const [table = '', column = '', where] = ['table', 'column', 'where'].map(
    (each) => searchParams.get(each) ?? undefined,
  );
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(where ?? '') ?? [];
  const identifiers = [pathname.slice(1), table, column, ...(where === undefined ? [] : [name])];
  if (!identifiers.every((each) => /^\w+$/.test(each)))
    throw new Error(`--stock needs a database, a table and a column of letters, digits and _. Write it as ${example}.`);
  url.search = '';
  return { url: url.href, table, column, ...(where !== undefined && { where: { name, value } }) };
}

/** Connects, and checks that there is exactly one such row. Rejects with a sentence that says what to do. */
export async function openStockRow({ url, table, column, where }: RowPlace) {
  const { host, pathname } = new URL(url);
  const label = `${table}.${column}${where ? `, ${where.name}=${where.value},` : ''} in mysql://${host}${pathname}`;
  const pool = createPool({ uri: url, connectionLimit: 1, connectTimeout: 1_000 * LIMIT_S });
  pool.pool.on('connection', (connection) => {
    connection.on('error', () => {});
    connection.query(`SET SESSION innodb_lock_wait_timeout = ${LIMIT_S}`);
  });
  const condition = where ? ` WHERE \`${where.name}\` = ?` : '';
  const values = where ? [where.value] : [];
  const row = {
    ...{ url, table, column, where },
    /** How it is shown: without a password. */
    label,
    async read(): Promise<number> {
      const sql = `SELECT \`${column}\` AS units FROM \`${table}\`${condition} LIMIT 2`;
      const [found] = await pool.execute<RowDataPacket[]>(sql, values).catch(explain);
      const [only] = found;
      if (only === undefined) throw new Error(`There is no row for ${label}. Insert one, or correct --stock.`);
      if (found.length > 1)
        throw new Error(`There is more than one row for ${label}. Choose one, such as with &where=id=42 in --stock.`);
      const units = Number(only['units'] ?? Number.NaN);
      if (Number.isInteger(units)) return units;
      throw new Error(`${label} is not a whole number. Correct --stock, or set a stock there.`);
    },
    async write(units: number) {
      await pool.execute(`UPDATE \`${table}\` SET \`${column}\` = ?${condition}`, [units, ...values]).catch(explain);
    },
    /** Leaves the stock as it was found. */
    async close() {
      await row.write(found).catch(() => {});
      await pool.end();
    },
  };

  function explain({ code = '', message }: Error & { code?: string }): never {
    if (/^E[A-Z]+$/.test(code))
      throw new Error(`MySQL does not respond for ${label} (${code}). Start MySQL, or correct --stock.`);
    const isMissing = ['ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR', 'ER_BAD_DB_ERROR'].includes(code);
    throw new Error(
      isMissing
        ? `There is no ${label}. Correct --stock. ${message}`
        : `MySQL refuses to read or write ${label}: ${message}`,
    );
  }

  let found = 0;
  try {
    found = await row.read();
    return row;
  } catch (error) {
    await pool.end();
    throw error;
  }
}
