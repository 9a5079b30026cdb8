// A Redis Cluster and a Redis with Sentinels, of real servers on loopback; gone when the test file has run.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { makeTempDir, type Part, startPart } from '../../../stack/parts.ts';
import { findOnPath } from '../../../stack/path.ts';
import { freePort } from '../../../stack/ports.ts';
import { until } from '../../services/inventory/node-under-test.ts';

const SLOTS = 16_384;
/** How long a server may be silent before the others take it for dead, in milliseconds. */
const DEAD_AFTER_MS = 500;
const MASTER_NAME = 'shop';

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
  const program = findOnPath('redis-server', 'valkey-server') ?? '';
  const temp = makeTempDir();
  const clients: Redis[] = [];
  const parts = new Set<Part>();

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await Promise.all([...parts].map((part) => part.stop()));
    temp.remove();
  });

  async function start(args: string[], conf = ''): Promise<Server> {
    const port = await freePort();
    const dir = join(temp.dir, String(port));
    mkdirSync(dir);
    writeFileSync(join(dir, 'redis.conf'), conf);
    const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 20 });
    client.on('error', () => {});
    clients.push(client);
    let part: Part;
    async function run() {
      part = await startPart({
        name: `redis at ${port}`,
        command: program,
        args: [join(dir, 'redis.conf'), '--port', String(port), '--bind', '127.0.0.1', '--dir', dir, ...args],
        cwd: dir,
        isReady: async () => (await client.ping()) === 'PONG',
      });
      parts.add(part);
    }
    await run();
    return {
      port,
      client,
      signal: (name) => part.signal(name),
      async kill() {
        parts.delete(part);
        part.signal('SIGKILL');
        await part.ended;
      },
      startAgain: run,
    };
  }

  /** Three masters that share the slots. What they hold outlives a kill. */
  async function startCluster() {
    const masters = await Promise.all(
      [0, 1, 2].map(async () => {
        const busPort = String(await freePort());
        const ofCluster = ['--cluster-enabled', 'yes', '--cluster-port', busPort, '--cluster-announce-ip', '127.0.0.1'];
        const kept = ['--appendonly', 'yes', '--appendfsync', 'no', '--save', ''];
        const server = await start([...ofCluster, '--cluster-node-timeout', String(DEAD_AFTER_MS), ...kept]);
        return { ...server, busPort };
      }),
    );
    const share = Math.ceil(SLOTS / masters.length);
    for (const [index, { client, port, busPort }] of masters.entries()) {
      const last = Math.min((index + 1) * share, SLOTS) - 1;
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last));
      if (index > 0) await masters[0]?.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port), busPort);
    }
    const isWhole = async () => {
      const infos = await Promise.all(masters.map(({ client }) => client.call('CLUSTER', 'INFO')));
      return infos.every((info) => /cluster_state:ok/.test(String(info)) && /cluster_known_nodes:3/.test(String(info)));
    };
    await until('the Cluster is whole', isWhole);
    const ports = masters.map(({ port }) => `127.0.0.1:${port}`);
    return {
      url: `redis+cluster://${ports.join(',')}`,
      masters,
      /** The master that holds the key. */
      async ownerOf(key: string) {
        const slot = Number(await masters[0]?.client.call('CLUSTER', 'KEYSLOT', key));
        return masters[Math.floor(slot / share)] as Server;
      },
      isWhole,
    };
  }

  /** A master, a replica of it, and three Sentinels, two of which must agree that a master is dead. */
  async function startSentinels() {
    const kept = ['--save', '', '--repl-diskless-sync-delay', '0'];
    const master = await start(kept);
    const replica = await start([...kept, '--replicaof', '127.0.0.1', String(master.port)]);
    const conf = [
      `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${master.port} 2`,
      `sentinel down-after-milliseconds ${MASTER_NAME} ${DEAD_AFTER_MS}`,
      `sentinel failover-timeout ${MASTER_NAME} 2000`,
    ].join('\n');
    const sentinels = await Promise.all([1, 2, 3].map(() => start(['--sentinel'], `${conf}\n`)));
    const ports = sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return {
      url: `redis+sentinel://${ports.join(',')}/${MASTER_NAME}`,
      master,
      replica,
      /** Resolves when every Sentinel knows the two others and the replica. */
      async know() {
        for (const { client } of sentinels) {
          const has = async (...what: string[]) =>
            ((await client.call('SENTINEL', ...what, MASTER_NAME)) as unknown[]).length;
          await until('a Sentinel knows the others', async () => (await has('SENTINELS')) === 2);
          await until('a Sentinel knows the replica', async () => (await has('REPLICAS')) === 1);
        }
      },
    };
  }

  return { startCluster, startSentinels };
}
