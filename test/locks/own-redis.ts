import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { makeTempDir } from '../../stack/parts.ts';
import { loadScripts, openRedis, openReplica, type RedisServer, untilCopied } from '../../stack/redis.ts';
import { ownKeys } from './own-keys.ts';

/**
 * A Redis server for one test file, with a replica if that is asked for. It knows all our scripts, so that each call of one is a
 * single command.
 */
export function ownRedis({ hasReplica = false } = {}) {
  const key = ownKeys();
  const clients: Redis[] = [];
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let server: RedisServer | undefined;
  let replica: RedisServer | undefined;

  beforeAll(async () => {
    temp = makeTempDir();
    server = await openRedis(undefined, temp);
    await loadScripts(server.url);
    if (!hasReplica) return;
    mkdirSync(join(temp.dir, 'replica'));
    replica = await openReplica(server.url, join(temp.dir, 'replica'));
    await untilCopied({ primaryUrl: server.url, replicaUrl: replica.url });
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await replica?.part?.stop();
    await server?.part?.stop();
    temp?.remove();
  });

  function urlOf(which: RedisServer | undefined) {
    if (which === undefined) throw new Error('There is none, or no test has begun.');
    return which.url;
  }

  return {
    url: () => urlOf(server),
    replicaUrl: () => urlOf(replica),
    /** A new connection, to the server unless another one is named, closed after the last test. */
    connect(to = urlOf(server)) {
      const client = new Redis(to);
      clients.push(client);
      return client;
    },
    /** Signals the replica: it confirms nothing after SIGSTOP until SIGCONT. */
    signalReplica: (name: NodeJS.Signals) => replica?.part?.signal(name),
    /** Signals the server: it stands still after SIGSTOP until SIGCONT. */
    signal: (name: NodeJS.Signals) => server?.part?.signal(name),
    key,
  };
}
