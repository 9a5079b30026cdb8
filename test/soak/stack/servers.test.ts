// Servers that are killed, or that start beside others of their kind.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openZookeeper as openSession } from '../../../locks/drivers/zookeeper-session.ts';
import { openMysql } from '../../../stack/mysql.ts';
import { makeTempDir, type Part } from '../../../stack/parts.ts';
import { openZookeeper } from '../../../stack/zookeeper.ts';

function ownDir() {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  return temp;
}

interface Server {
  url: string;
  part?: Part;
  startAgain?: () => Promise<Part>;
}
async function open<S extends Server>(how: (options: { dir: string }) => Promise<S>): Promise<S> {
  const server = await how(ownDir());
  onTestFinished(() => server.part?.stop());
  return server;
}

describe('a server that is killed starts again with what it had', () => {
  async function killAndStart({ part, startAgain }: Server, meanwhile = () => {}) {
    part?.signal('SIGKILL');
    await part?.ended;
    meanwhile();
    const again = await startAgain?.();
    onTestFinished(() => again?.stop());
  }

  test('mysql: with all that was committed; each database is a new one', async () => {
    const server = await open(async (options) => {
      const { url, members, database } = await openMysql(undefined, options);
      return { url, database, ...members[0] };
    });
    const url = await server.database('one');
    await expect(server.database('one')).rejects.toThrow('database exists');
    const writer = await createConnection(url);
    writer.on('error', () => {});
    await writer.query('CREATE TABLE t (n INT PRIMARY KEY)');
    await writer.query('INSERT INTO t VALUES (7)');
    await killAndStart(server);

    const reader = await createConnection(url);
    const [rows] = await reader.query('SELECT n FROM t');
    await reader.end();
    expect(rows).toEqual([{ n: 7 }]);
  });

  test('zookeeper: though it was killed as it began a log', async () => {
    const { dir } = ownDir();
    const server = await open(async () => {
      const { url, members } = await openZookeeper(undefined, { dir });
      return { url, ...members[0] };
    });
    const session = openSession({ url: server.url, sessionMs: 10_000 });
    onTestFinished(() => session.close());
    const before = await (await session.enter()).list('/zookeeper');
    const data = join(dir, `zookeeper-${server.url.split(':')[1]}`, 'version-2');
    await killAndStart(server, () => {
      // The second one has half of its header.
      writeFileSync(join(data, 'log.fe'), '');
      writeFileSync(join(data, 'log.ff'), 'ZKLG\0\0\0\x02');
    });

    expect(await (await session.enter()).list('/zookeeper')).toEqual(before);
  });
});
