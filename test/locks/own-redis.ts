import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect } from 'vitest';
import { makeTempDir } from '../../scripts/stack/parts.ts';
import { loadScripts, openRedis, openReplica, type RedisServer, untilCopied } from '../../scripts/stack/redis.ts';
import { ownKeys } from './own-keys.ts';

/** How often Redis is asked whether a lock has been given back after the last test. */
const LOOKS = 2_000;

/**
 * A Redis server for one test file, with a replica if that is asked for. It must be empty when the tests have ended. It knows all
 * our scripts, so that each call of one is a single command.
 */
export function ownRedis({ hasReplica = false } = {}) {
  const keys = ownKeys();
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
    const lost = keys.lost();
    const keysLeft = server && (await keysLeftIn(connect(), keys.isOfFailed));
    for (const client of clients) client.disconnect();
    await replica?.part?.stop();
    await server?.part?.stop();
    temp?.remove();
    expect({ keysLeft, lost }).toEqual({ keysLeft: [], lost: [] });
  });

  function replicaUrl() {
    if (replica === undefined) throw new Error('There is no replica.');
    return replica.url;
  }

  function url() {
    if (server === undefined) throw new Error('The server is started before the first test.');
    return server.url;
  }

  function connect(to = url()) {
    const client = new Redis(to);
    clients.push(client);
    return client;
  }

  return {
    url,
    /** A new connection, to the server unless another one is named, closed after the last test. */
    connect,
    replicaUrl,
    /** Signals the replica: it confirms nothing after SIGSTOP until SIGCONT. */
    signalReplica: (name: NodeJS.Signals) => replica?.part?.signal(name),
    /** Signals the server: it stands still after SIGSTOP until SIGCONT. */
    signal: (name: NodeJS.Signals) => server?.part?.signal(name),
    key: keys.key,
  };
}

/** A wait that was cancelled may be granted its lock once more, and gives it back: such a key is gone a moment later. */
async function keysLeftIn(client: Redis, isOfFailed: (key: string) => boolean): Promise<string[]> {
  const look = async () => (await client.keys('*')).filter((key) => !isOfFailed(key));
  let keys = await look();
  for (let looks = 1; keys.length > 0 && looks < LOOKS; looks += 1) keys = await look();
  return keys;
}
