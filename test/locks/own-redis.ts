import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect } from 'vitest';
import { makeTempDir } from '../../scripts/stack/parts.ts';
import { loadScripts, openRedis, type RedisServer } from '../../scripts/stack/redis.ts';

/**
 * A Redis server for one test file. It must be empty when the tests have ended. It knows all our scripts, so that each
 * call of one is a single command.
 */
export function ownRedis() {
  const clients: Redis[] = [];
  let temp: ReturnType<typeof makeTempDir> | undefined;
  let server: RedisServer | undefined;

  beforeAll(async () => {
    temp = makeTempDir();
    server = await openRedis(undefined, temp);
    await loadScripts(server.url);
  });

  afterAll(async () => {
    const keysLeft = server && (await connect().keys('*'));
    for (const client of clients) client.disconnect();
    await server?.part?.stop();
    temp?.remove();
    expect(keysLeft).toEqual([]);
  });

  function url() {
    if (server === undefined) throw new Error('The server is started before the first test.');
    return server.url;
  }

  function connect() {
    const client = new Redis(url());
    clients.push(client);
    return client;
  }

  return {
    url,
    /** A new connection, closed after the last test. */
    connect,
    /** Signals the server: it stands still after SIGSTOP until SIGCONT. */
    signal: (name: NodeJS.Signals) => server?.part?.signal(name),
    /** The key of the test that asks, which no other test has. */
    key: () => `lock:${expect.getState().currentTestName}`,
  };
}
