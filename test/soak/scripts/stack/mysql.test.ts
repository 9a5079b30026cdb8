import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { openMysql, whyNoMysql } from '../../../../scripts/stack/mysql.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import { freePort } from '../../../../scripts/stack/ports.ts';

test('mysql: a killed server loses nothing that was committed, and each database is a new one', async () => {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const server = await openMysql(undefined, temp);
  let part = server.part;
  onTestFinished(() => part?.stop());
  const url = await server.database('one');
  await server.database('two');
  await expect(server.database('two')).rejects.toThrow('database exists');
  const writer = await createConnection(url);
  writer.on('error', () => {});
  await writer.query('CREATE TABLE t (n INT PRIMARY KEY)');
  await writer.query('INSERT INTO t VALUES (7)');

  part?.signal('SIGKILL');
  await part?.ended;
  part = await server.startAgain?.();

  const reader = await createConnection(url);
  const [rows] = await reader.query('SELECT n FROM t');
  await reader.end();
  expect(rows).toEqual([{ n: 7 }]);
  expect(server).toMatchObject({ kind: 'native', version: expect.stringMatching(/^\d+\.\d+/) });
});

test('mysql: a server that starts leaves the temporary tables of another one alone', async () => {
  const [temp, next] = [makeTempDir(), makeTempDir()];
  for (const { remove } of [temp, next]) onTestFinished(remove);
  const server = await openMysql(undefined, temp);
  onTestFinished(() => server.part?.stop());
  const user = await createConnection(await server.database('one'));
  onTestFinished(() => user.destroy());
  // MariaDB makes such a table, in a file, for each query of its list of processes.
  await user.query('CREATE TEMPORARY TABLE t (words TEXT) ENGINE=MyISAM');

  const other = await openMysql(undefined, next);
  onTestFinished(() => other.part?.stop());

  expect(await user.query('DROP TEMPORARY TABLE t')).toHaveLength(2);
});

test('mysql: a given one that does not answer is said in one sentence, without its password', async () => {
  const url = `mysql://user:secret@127.0.0.1:${await freePort()}/lockstep`;
  const opening = openMysql(url, { dir: '/nowhere' });

  await expect(opening).rejects.toThrow('the MySQL that MYSQL_URL names does not answer: connect ECONNREFUSED');
  await expect(opening).rejects.not.toThrow('secret');
});

test('mysql: where there is none on the PATH, the sentence says how to install it', async () => {
  const { PATH } = process.env;
  process.env['PATH'] = '/nowhere/bin';
  onTestFinished(() => {
    process.env['PATH'] = PATH;
  });

  expect(whyNoMysql()).toContain('apt-get install mariadb-server');
  await expect(openMysql(undefined, { dir: '/nowhere' })).rejects.toThrow('brew install mariadb');
});
