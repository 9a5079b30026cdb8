import { createConnection, type Pool, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, expect } from 'vitest';
import { connectMysql } from '../../../services/inventory/servers/mysql.ts';
import { doneStates, type MysqlServer, openMysql } from '../../../stack/mysql.ts';
import { makeTempDir, type Part } from '../../../stack/parts.ts';
import { ownKeys } from '../own-keys.ts';

/** A MySQL or MariaDB for one test file. No transaction may be open on it when the tests have ended. */
export function ownMysql() {
  const key = ownKeys();
  const pools: Pool[] = [];
  let databases = 0;
  let temp: ReturnType<typeof makeTempDir>;
  let server: MysqlServer;
  let part: Part | undefined;

  beforeAll(async () => {
    temp = makeTempDir();
    server = await openMysql(undefined, temp);
    part = server.members[0]?.part;
  });

  afterAll(async () => {
    const left = await ask('SELECT trx_query FROM information_schema.innodb_trx');
    for (const pool of pools) await pool.end();
    await part?.stop();
    temp.remove();
    expect(left).toEqual([]);
  });

  /** Asks on a connection of its own, which belongs to no pool. */
  async function ask(sql: string, values: unknown[] = []) {
    const connection = await createConnection(server.url);
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql, values);
      return rows;
    } finally {
      await connection.end();
    }
  }

  return {
    ask,
    /** The server stops answering without ending. */
    freeze: () => standStill(server.url, part as Part),
    resume: () => part?.signal('SIGCONT'),
    /** The URL of a new database. */
    async database() {
      databases += 1;
      return server.database(`test_${databases}`);
    },
    /** A new pool, closed after the last test. */
    connect(url: string, connections?: number) {
      const pool = connectMysql(url, connections ?? 10);
      pools.push(pool);
      return pool;
    },
    /** How many statements of this form are under way now; of any that may wait for a lock, when it is not given. */
    async waiting(form?: string) {
      const forms = form === undefined ? ['%FOR UPDATE%', '%GET_LOCK%', 'UPDATE%'] : [form];
      const isOne = forms.map(() => 'info LIKE ?').join(' OR ');
      const [row] = await ask(
        `SELECT COUNT(*) AS waiting FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND state NOT IN (?) AND (${isOne})`,
        [doneStates, ...forms],
      );
      return Number(row?.waiting);
    },
    key,
  };
}

/** Stops a server. Resolves when it no longer answers: its threads do not stop all at once. */
export async function standStill(url: string, part: Part) {
  const connection = await createConnection(url);
  connection.on('error', () => {});
  part.signal('SIGSTOP');
  const ask = () => connection.query({ sql: 'SELECT 1', timeout: 100 });
  const answers = () =>
    ask().then(
      () => true,
      () => false,
    );
  while (await answers());
  connection.destroy();
}

/** The id that the server gives to the one connection of this pool. */
export async function idOf(pool: Pool): Promise<number> {
  const [rows] = await pool.query<RowDataPacket[]>('SELECT CONNECTION_ID() AS id');
  return rows[0]?.id;
}
