// A Redis Cluster and a Redis with Sentinels, of real servers on loopback; gone when the test file has run.

import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { createOwnParts } from '../../../stack/own-parts.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { openCluster, openSentinels, type SetServer } from '../../../stack/redis-set.ts';

/** Starts servers that end when the test file has run. */
export function ownServers() {
  const temp = makeTempDir();
  const clients: Redis[] = [];
  const parts = createOwnParts();
  const options = { dir: temp.dir, onPart: parts.watch };

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await parts.stopAll(temp.remove);
  });

  function serverOf(server: SetServer) {
    const client = new Redis(server.url, { retryStrategy: () => 20 });
    client.on('error', () => {});
    clients.push(client);
    return { port: Number(new URL(server.url).port), client, ...parts.breakable(server) };
  }

  type Server = ReturnType<typeof serverOf>;

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
