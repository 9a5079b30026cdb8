// Opens the MySQL of a run: the one at MYSQL_URL, or a private server from the PATH.

import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { mysqlAddress } from '../services/inventory/servers/mysql.ts';
import { installLines } from './install-lines.ts';
import type { OwnServer } from './own-parts.ts';
import { cacheDir, retryOnTakenPort, startPart } from './parts.ts';
import { findOnPath } from './path.ts';
import { freePort } from './ports.ts';

/** How long a server may take to answer one question, in milliseconds. */
const ANSWER_LIMIT_MS = 2_000;

/**
 * What a statement does when it is done, and its answer is on its way or was given: its state in the list of processes, in the words of
 * MariaDB and MySQL. A statement in another state may wait for a row.
 */
export const doneStates = [
  ...[
    'end',
    'end of update loop',
    'query end',
    'commit',
    'waiting for handler commit',
    'updating status',
    'closing tables',
  ],
  ...['unlocking tables', 'writing to net', 'sending to client', 'freeing items', 'starting cleanup', 'cleaning up'],
  ...['reset for next command', 'logging slow query'],
];

export type MysqlServer = Awaited<ReturnType<typeof startServer>>;

/** The server on the PATH. Undefined when there is none. */
export function installedMysql(): string | undefined {
  return findOnPath('mariadbd', 'mysqld');
}

/** Why no server can be started, as a sentence; undefined when one can. */
export function whyNoMysql(): string | undefined {
  if (installedMysql() !== undefined) return undefined;
  return `There is no MariaDB or MySQL on the PATH: ${installLines('mysql')}.`;
}

export interface MysqlOptions {
  /** Where a server of our own keeps its data. */
  dir: string;
  /** Where it listens; a free port when it is not given. */
  port?: number | undefined;
  /** More arguments for a server of our own. */
  args?: string[];
}

/** The MySQL to use: MYSQL_URL if it is given, else a new server from the PATH. */
export async function openMysql(
  givenUrl: string | undefined,
  { dir, port, args = [] }: MysqlOptions,
): Promise<MysqlServer> {
  if (givenUrl === undefined) return startServer(dir, port, args);
  const version = await askFor('VERSION()', givenUrl).catch((error) => {
    throw new Error(`the MySQL at MYSQL_URL does not respond: ${error.message}`);
  });
  return { url: givenUrl, version, members: [], database: async () => givenUrl };
}

async function startServer(dir: string, port: number | undefined, more: string[]) {
  const program = installedMysql();
  if (program === undefined) throw new Error(whyNoMysql());
  cpSync(await freshData(program), join(dir, 'mysql'), { recursive: true });
  mkdirSync(tmpDirOf(dir), { recursive: true });
  if (port !== undefined) return startOn(port, program, dir, more);
  return retryOnTakenPort(async () => startOn(await freePort(), program, dir, more));
}

async function startOn(port: number, program: string, dir: string, more: string[]) {
  const url = `mysql://root@127.0.0.1:${port}`;
  const startAgain = () =>
    startPart({
      name: 'mysql',
      command: program,
      args: [...basicArgs(dir), ...serverArgs(dir, port), ...more],
      cwd: dir,
      addresses: [{ port }],
      isReady: async () => (await askFor('@@socket', url)) === socketPath(dir),
    });
  const part = await startAgain();
  return {
    url,
    /** In the server's own words, such as `10.11.14-MariaDB`. */
    version: await askFor('VERSION()', url),
    /** Its process, when it is ours: it starts again with the same data. */
    members: [{ part, startAgain }] as OwnServer[],
    /** Resolves with the URL of a new, empty database; of the one that MYSQL_URL names, when that was given. */
    async database(name: string) {
      await ask(url, (connection) => connection.query('CREATE DATABASE ??', [name]));
      return `${url}/${name}`;
    },
  };
}

const socketPath = (dir: string) => join(dir, 'mysql.sock');
const tmpDirOf = (dir: string) => join(dir, 'mysql-tmp');

/** Small, so that it starts at once, and it never waits for the disk: a busy one would hold up every commit. */
const basicArgs = (dir: string) => [
  '--no-defaults',
  ...(process.getuid?.() === 0 ? ['--user=root'] : []),
  `--datadir=${join(dir, 'mysql')}`,
  // Its own: a server that starts deletes the temporary tables in the folder, and would delete those of another one.
  `--tmpdir=${tmpDirOf(dir)}`,
  '--innodb-buffer-pool-size=16M',
  '--innodb-flush-method=nosync',
  // MySQL 9 no longer knows it.
  '--loose-innodb-log-file-size=8M',
];

/** Only on loopback. A commit is handed to the system before it is answered, so a killed server loses nothing of it. */
const serverArgs = (dir: string, port: number) => [
  `--port=${port}`,
  '--bind-address=127.0.0.1',
  `--socket=${socketPath(dir)}`,
  `--pid-file=${join(dir, 'mysql.pid')}`,
  '--innodb-flush-log-at-trx-commit=2',
  '--skip-log-bin',
  '--max-connections=500',
  // A second protocol of MySQL, on a port of its own.
  '--loose-mysqlx=OFF',
];

/** Resolves with the folder of a server that nobody has used. To make it takes seconds, so it is made once for each version. */
async function freshData(program: string): Promise<string> {
  const version = spawnSync(program, ['--no-defaults', '--version'], { encoding: 'utf8' }).stdout.trim();
  const fresh = join(cacheDir, `mysql-${createHash('sha256').update(version).digest('hex').slice(0, 16)}`);
  if (existsSync(fresh)) return fresh;
  mkdirSync(cacheDir, { recursive: true });
  const making = mkdtempSync(`${fresh}-`);
  try {
    await makeData(program, making, version.includes('MariaDB'));
    renameSync(join(making, 'mysql'), fresh);
  } catch (error) {
    // Another process may have made it first.
    if (!existsSync(fresh)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return fresh;
}

/** Makes the server's own tables, with a user root who needs no password. */
async function makeData(program: string, dir: string, isMariadb: boolean) {
  const install = isMariadb ? findOnPath('mariadb-install-db', 'mysql_install_db') : program;
  if (install === undefined) throw new Error(`There is no mariadb-install-db on the PATH for ${program}.`);
  const more = isMariadb
    ? ['--auth-root-authentication-method=normal', '--skip-test-db']
    : ['--initialize-insecure', '--log-error-verbosity=1'];
  mkdirSync(tmpDirOf(dir));
  await promisify(execFile)(install, [...basicArgs(dir), ...more]);
}

async function askFor(expression: '@@socket' | 'VERSION()', url: string): Promise<string> {
  const [rows] = await ask(url, (connection) =>
    connection.query<RowDataPacket[]>({ sql: `SELECT ${expression} AS value`, timeout: ANSWER_LIMIT_MS }),
  );
  return rows[0]?.value ?? '';
}

async function ask<T>(url: string, question: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await createConnection({ ...mysqlAddress(url), connectTimeout: ANSWER_LIMIT_MS });
  try {
    return await question(connection);
  } finally {
    connection.destroy();
  }
}
