// A Redis Cluster and a Redis with Sentinels, of real servers on loopback; gone when the test file has run.

import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { makeTempDir, type Part } from '../../../stack/parts.ts';
import { openCluster, openSentinels, type SetServer } from '../../../stack/redis-set.ts';

export interface Server {
  port: number;
  /** A connection of the test's own. */
  client: Redis;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Starts it again with the data that it had. */
  startAgain(): Promise<void>;
}

/** Starts servers that end when the test file has run. */
export function ownServers() {
  const temp = makeTempDir();
  const clients: Redis[] = [];
  const parts = new Set<Part>();
  const options = { dir: temp.dir, onPart: (part: Part) => parts.add(part) };

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await Promise.all([...parts].map((part) => part.stop()));
    temp.remove();
  });

  function serverOf({ url, part: started, startAgain }: SetServer): Server {
    const port = Number(new URL(url).port);
    let part = started;
    const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 });
    client.on('error', () => {});
    clients.push(client);
    return {
      port,
      client,
      signal: (name) => part.signal(name),
      async kill() {
        parts.delete(part);
        part.signal('SIGKILL');
        await part.ended;
      },
      async startAgain() {
        part = await startAgain();
        parts.add(part);
      },
    };
  }

  /** Three masters that share the slots. What they hold outlives a kill. */
  async function startCluster() {
    const { url, servers } = await openCluster({ ...options, replicas: 0 });
    const masters = servers.map(serverOf);
    return {
      url,
      masters,
      /** The master that holds the key. */
      async ownerOf(key: string) {
        const answers = await Promise.allSettled(masters.map(({ client }) => client.exists(key)));
        return masters[answers.findIndex(({ status }) => status === 'fulfilled')] as Server;
      },
      async isWhole() {
        const infos = await Promise.all(masters.map(({ client }) => client.call('CLUSTER', 'INFO')));
        return infos.every((info) => /cluster_state:ok/.test(String(info)));
      },
    };
  }

  /** A primary, a replica of it, and three Sentinels, two of which must agree that a primary is dead. */
  async function startSentinels() {
    const { url, primary, replica } = await openSentinels(options);
    return { url, master: serverOf(primary), replica: serverOf(replica as SetServer) };
  }

  return { startCluster, startSentinels };
}
