import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/redlock.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { loadScripts, openRedis, type RedisServer } from '../../../stack/redis.ts';
import { aborted, lockOptions } from '../lock-options.ts';
import { ownKeys } from '../own-keys.ts';
import { until } from '../until.ts';

// Real masters, which know nothing of each other. How their votes are counted, and for how long they are waited for, is in
// beyond/redlock.test.ts.

const key = ownKeys();
let temp: ReturnType<typeof makeTempDir>;
let servers: RedisServer[];
/** To look at the masters themselves, one each. */
let direct: Redis[];
const clients: Redis[] = [];

beforeAll(async () => {
  temp = makeTempDir();
  const { dir } = temp;
  servers = await Promise.all([1, 2, 3].map(() => openRedis(undefined, { dir })));
  for (const { url } of servers) await loadScripts(url);
  direct = await connect();
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await Promise.all(servers.map(({ part }) => part?.stop()));
  temp.remove();
});

/** Connections to all masters, as a process of its own would have them. They are there when this resolves. */
async function connect() {
  const connected = servers.map(({ url }) => new Redis(url, { enableOfflineQueue: false, retryStrategy: () => 20 }));
  clients.push(...connected);
  for (const client of connected) client.on('error', () => {});
  await Promise.all(connected.map((client) => new Promise((resolve) => client.once('ready', resolve))));
  return connected;
}

const newLock = async (ownerToken: string) =>
  createLock(lockOptions({ redis: undefined as never, key: key(), masters: await connect(), ownerToken }));
const votes = () => Promise.all(direct.map(async (master) => (await master.hkeys(key()))[0] ?? null));
const allSay = (owner: string | null) => until(async () => (await votes()).every((vote) => vote === owner));

test('redlock: real masters vote for the holder, keep the others out, and are freed by its release', async () => {
  const [a, b] = [await newLock('a'), await newLock('b')];
  await a.acquire();
  await allSay('a');
  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  await a.release();

  await allSay(null);
  await b.acquire();
  await b.release();
});
