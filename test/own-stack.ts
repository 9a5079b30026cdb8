// The servers that the test files of one worker share. Each is started when it is first asked for, and ends with the process.
//
// A file gets an emptied Redis, databases of its own, and a folder of its own in ZooKeeper. It may not stop or kill them: a link before
// a server takes it away from one node (stack/proxy/link.ts), and a file that needs more has a server of its own.

import { Redis } from 'ioredis';
import { type MysqlServer, openMysql } from '../stack/mysql.ts';
import { makeTempDir, type Part } from '../stack/parts.ts';
import { loadScripts, openRedis } from '../stack/redis.ts';
import { openZookeeper } from '../stack/zookeeper.ts';
import { cleanUpLater } from './clean-up.ts';

export interface SharedRedis {
  url: string;
  port: number;
  /** A connection of the file's own. */
  client: Redis;
}

/** Started once; again when it has failed, or ended. Nobody stops it: the reaper does when this process is gone. */
function shared<T extends { part?: Part; members?: { part: Part }[] }>(
  start: (dir: string) => Promise<T>,
): () => Promise<T> {
  let server: Promise<T> | undefined;
  return () => {
    server ??= start(makeTempDir().dir);
    const forget = () => {
      server = undefined;
    };
    server.then(({ part, members = [] }) => (part ?? members[0]?.part)?.ended).then(forget, forget);
    return server;
  };
}

const theRedis = shared((dir) => openRedis(undefined, { dir }));
const theMysql = shared((dir) => openMysql(undefined, { dir }));
const theZookeeper = shared((dir) => openZookeeper(undefined, { dir }));
let names = 0;

/** A name that nobody has used on these servers. */
function newName(name: string) {
  names += 1;
  return `${name}_${names}`;
}

/** The Redis of this worker, emptied. It knows all our scripts, so that each call of one is a single command. */
export async function sharedRedis(): Promise<SharedRedis> {
  const { url } = await theRedis();
  const client = new Redis(url, { maxRetriesPerRequest: null });
  cleanUpLater(() => client.disconnect());
  await client.flushall();
  await loadScripts(url);
  return { url, port: Number(new URL(url).port), client };
}

/** The MySQL or MariaDB of this worker. */
export async function sharedMysql(): Promise<Pick<MysqlServer, 'url' | 'database'>> {
  const server = await theMysql();
  return {
    url: server.url,
    /** Resolves with the URL of a new database. */
    database: (name) => server.database(newName(name)),
  };
}

/** The URL of a folder that nobody has used in the ZooKeeper of this worker. */
export async function sharedZookeeper(): Promise<string> {
  return `${(await theZookeeper()).url}/${newName('file')}`;
}
