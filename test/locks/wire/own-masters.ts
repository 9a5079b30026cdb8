import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { makeTempDir, type Part } from '../../../scripts/stack/parts.ts';
import { openRedis, type RedisServer } from '../../../scripts/stack/redis.ts';
import { scriptTexts } from '../../../virtual/scripts.ts';
import { ownKeys } from '../own-keys.ts';
import { until } from '../until.ts';

/**
 * Redis servers that know nothing of each other, for one test file. They know all our scripts. After each test they run and are
 * empty.
 */
export function ownMasters(count: number) {
  const keys = ownKeys();
  const clients: Redis[] = [];
  let servers: RedisServer[] = [];
  let parts: Part[] = [];
  /** To look at the masters themselves, one each. */
  let direct: Redis[] = [];
  let temp: ReturnType<typeof makeTempDir> | undefined;

  beforeAll(async () => {
    temp = makeTempDir();
    const { dir } = temp;
    servers = await Promise.all(Array.from({ length: count }, () => openRedis(undefined, { dir })));
    parts = servers.map(({ part }) => part as Part);
    direct = servers.map(({ url }) => new Redis(url, { retryStrategy: () => 20 }));
    for (const client of direct) client.on('error', () => {});
    await Promise.all(direct.map(teach));
  });

  afterEach(async () => {
    for (const part of parts) part.signal('SIGCONT');
    for (const client of clients.splice(0)) client.disconnect();
    await Promise.all(direct.map((client) => client.flushall()));
  });

  afterAll(async () => {
    const lost = keys.lost();
    for (const client of direct) client.disconnect();
    await Promise.all(parts.map((part) => part.stop()));
    temp?.remove();
    expect(lost).toEqual([]);
  });

  async function teach(client: Redis) {
    for (const script of scriptTexts) await client.script('LOAD', script);
  }

  function signal(name: NodeJS.Signals, masters: number[]) {
    for (const master of masters) parts[master]?.signal(name);
  }

  return {
    /** Connections to all masters, as a process of its own would have them. They are there when this resolves. */
    async connect(): Promise<Redis[]> {
      const connected = servers.map(
        ({ url }) => new Redis(url, { enableOfflineQueue: false, retryStrategy: () => 20 }),
      );
      clients.push(...connected);
      await Promise.all(connected.map((client) => new Promise((resolve) => client.once('ready', resolve))));
      for (const client of connected) client.on('error', () => {});
      return connected;
    },
    freeze: (...masters: number[]) => signal('SIGSTOP', masters),
    resume: (...masters: number[]) => signal('SIGCONT', masters),
    /** Kills a master and starts it again: it has forgotten everything. */
    async forget(master: number) {
      const part = parts[master] as Part;
      part.signal('SIGKILL');
      await part.ended;
      parts[master] = (await servers[master]?.startAgain?.()) as Part;
      await until(async () => (await direct[master]?.ping().catch(() => '')) === 'PONG');
      await teach(direct[master] as Redis);
    },
    /** Who has the vote of each master, as the masters say; null where nobody has. */
    votes: (key: string) => Promise.all(direct.map(async (client) => (await client.hkeys(key))[0] ?? null)),
    key: keys.key,
  };
}
