import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { makeTempDir } from '../../stack/parts.ts';
import { loadScripts, openRedis, type RedisServer } from '../../stack/redis.ts';
import { ownKeys } from './own-keys.ts';

/** A Redis server for one test file, which may stop it. It knows all our scripts, so that each call of one is a single command. */
export function ownRedis() {
  const key = ownKeys();
  const clients: Redis[] = [];
  let temp: ReturnType<typeof makeTempDir>;
  let server: RedisServer;

  beforeAll(async () => {
    temp = makeTempDir();
    server = await openRedis(undefined, temp);
    await loadScripts(server.url);
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.part?.stop();
    temp.remove();
  });

  return {
    url: () => server.url,
    /** A new connection, closed after the last test. */
    connect() {
      const client = new Redis(server.url);
      clients.push(client);
      return client;
    },
    /** Signals the server: it stands still after SIGSTOP until SIGCONT. */
    signal: (name: NodeJS.Signals) => server.part?.signal(name),
    key,
  };
}
