// Watches what Redis holds: under the key of a lock, and the keys that are left besides.

import type { RedisClient } from '../../locks/lock.ts';
import { mastersOf } from '../../services/inventory/servers/redis-client.ts';
import type { LeaseSample } from '../evidence/timeline.ts';
import type { Network } from './network.ts';
import type { Target } from './target.ts';

/** How long Redis may take to reply, in milliseconds. */
const ANSWER_LIMIT_MS = 200;

/** What Redis holds under the lock's key now, and how much CPU time it has used so far. Resolves with undefined when it does not reply. */
export async function readLease(
  redis: RedisClient,
  key: string,
  stockKey: string,
): Promise<(Omit<LeaseSample, 'at'> & { workedMs: number }) | undefined> {
  const answers = await redis
    .pipeline()
    .pttl(key)
    .get(key)
    .hkeys(key)
    .zrange(key, '0', '0')
    .get(stockKey)
    .info('cpu')
    .exec()
    .catch(() => null);
  const [ttl, text, fields, first, stock, cpu] = answers ?? [];
  // Two of the three are errors: a key holds a string, a hash or a sorted set.
  if (!ttl || ttl[0] || (text?.[0] && fields?.[0] && first?.[0])) return undefined;
  const ttlMs = Number(ttl[1]);
  const owner = text?.[1] ?? ((fields?.[1] ?? first?.[1]) as string[] | undefined)?.[0];
  return {
    ttlMs: ttlMs === -1 ? Number.POSITIVE_INFINITY : Math.max(0, ttlMs),
    workedMs: workedMsOf(String(cpu?.[1])),
    ...(owner !== undefined && { owner: String(owner) }),
    ...(stock?.[1] != null && { stock: Number(stock[1]) }),
  };
}

/** The CPU time that Redis has used so far, in milliseconds. 0 if it does not tell. */
function workedMsOf(info: string): number {
  const seconds = info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm);
  return [...seconds].reduce((sum, [, value]) => sum + Number(value) * 1_000, 0);
}

/** Polls the lock's key in Redis itself, instead of asking a lock what it believes. */
export function watchLease(target: Pick<Target, 'clock' | 'network' | 'wire'>, redisUrl: string, key: string) {
  const { clock, network, wire } = target;
  let redis = connect(network, redisUrl);
  const samples: LeaseSample[] = [];
  let isClosed = false;
  let standstillMs = 0;
  /** When Redis last answered, and how long it had worked until then. */
  let answered = { at: clock.now(), workedMs: 0 };

  async function look() {
    const lease = await readLease(redis, key, wire.stockKey);
    if (lease === undefined) return;
    const { workedMs, ...seen } = lease;
    const at = clock.now();
    const worked = Math.max(0, workedMs - answered.workedMs);
    if (samples.length > 0) standstillMs = Math.max(standstillMs, at - answered.at - worked - network.lookMs);
    answered = { at, workedMs };
    samples.push({ at, ...seen });
  }

  async function watch() {
    while (!isClosed) {
      await look();
      await clock.sleep(network.lookMs);
    }
  }

  const ended = watch();
  return {
    /** What was seen so far, oldest first. Moments at which Redis did not answer are missing. */
    samples,
    /**
     * For how long Redis came to nothing at worst between two looks, in milliseconds: a measure of how busy the machine is. What
     * Redis itself worked meanwhile does not count.
     */
    standstillMs: () => standstillMs,
    /** Looks there from here on. */
    moveTo(redisUrl: string) {
      redis.disconnect();
      redis = connect(network, redisUrl);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await ended;
      // What stood still since the last look counts as well.
      await look();
      redis.disconnect();
    },
  };
}

function connect(network: Network, redisUrl: string) {
  const redis = network.connectRedis(redisUrl, {
    commandTimeout: ANSWER_LIMIT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => network.lookMs,
  });
  redis.on('error', () => {});
  return redis;
}

/** How long Redis may take to reply, in milliseconds. */
const KEYS_LIMIT_MS = 2_000;

/** A key and its TTL, in milliseconds: `Infinity` without one. */
export interface LeftKey {
  key: string;
  leftMs: number;
}

/** The keys in Redis now, except those of the stock, the longest TTL first. Rejects when Redis does not reply. */
export async function readLeftKeys(
  { network, wire }: Pick<Target, 'network' | 'wire'>,
  redisUrl: string,
): Promise<LeftKey[]> {
  const redis = network.connectRedis(redisUrl, { commandTimeout: KEYS_LIMIT_MS });
  redis.on('error', () => {});
  try {
    await redis.ping();
    const left: LeftKey[] = [];
    for (const server of mastersOf(redis)) {
      for (const key of await server.keys('*')) {
        const ttlMs = await server.pttl(key);
        // It may have gone since.
        if (ttlMs !== -2 && !wire.isStockKey(key))
          left.push({ key, leftMs: ttlMs === -1 ? Number.POSITIVE_INFINITY : ttlMs });
      }
    }
    return left.sort((a, b) => b.leftMs - a.leftMs);
  } finally {
    redis.disconnect();
  }
}
