// What Redis holds under the key of a lock, looked at again and again.

import type { RedisClient } from '../../locks/lock.ts';
import { stockKey } from '../../services/inventory/store.ts';
import type { LeaseSample } from '../evidence/timeline.ts';
import { sharedClock, sleep } from './clock.ts';
import { network } from './network.ts';

/** How often Redis is asked, in milliseconds. */
const LOOK_MS = 20;
/** How long Redis may leave a question unanswered, in milliseconds. */
const ANSWER_LIMIT_MS = 200;

/** What Redis holds under the lock's key now. Resolves with undefined when it does not answer. */
export async function readLease(redis: RedisClient, key: string): Promise<Omit<LeaseSample, 'at'> | undefined> {
  const answers = await redis
    .pipeline()
    .pttl(key)
    .get(key)
    .hkeys(key)
    .get(stockKey('001'))
    .exec()
    .catch(() => null);
  const [ttl, text, fields, stock] = answers ?? [];
  // One of the two is an error: a key holds a string or a hash.
  if (!ttl || ttl[0] || (text?.[0] && fields?.[0])) return undefined;
  const ttlMs = Number(ttl[1]);
  const owner = text?.[1] ?? (fields?.[1] as string[] | undefined)?.[0];
  return {
    ttlMs: ttlMs === -1 ? Number.POSITIVE_INFINITY : Math.max(0, ttlMs),
    ...(owner !== undefined && { owner: String(owner) }),
    ...(stock?.[1] != null && { stock: Number(stock[1]) }),
  };
}

/** Looks again and again at the lock's key in Redis itself, until it is closed: no lock is asked what it thinks it holds. */
export function watchLease(redisUrl: string, key: string) {
  let redis = connect(redisUrl);
  /** What was seen so far, oldest first. Moments at which Redis did not answer are missing. */
  const samples: LeaseSample[] = [];
  let isClosed = false;
  let standstillMs = 0;

  async function watch() {
    let lastAt: number | undefined;
    while (!isClosed) {
      const lease = await readLease(redis, key);
      const at = sharedClock();
      if (lease) {
        samples.push({ at, ...lease });
        standstillMs = Math.max(standstillMs, at - (lastAt ?? at) - LOOK_MS);
        lastAt = at;
      }
      await sleep(LOOK_MS);
    }
    redis.disconnect();
  }

  const ended = watch();
  return {
    samples,
    /** For how long Redis or the harness came to nothing at worst between two looks, in milliseconds. */
    standstillMs: () => standstillMs,
    /** Looks there from here on. */
    moveTo(url: string) {
      redis.disconnect();
      redis = connect(url);
    },
    async close() {
      isClosed = true;
      await ended;
    },
  };
}

function connect(redisUrl: string) {
  const redis = network().connectRedis(redisUrl, {
    commandTimeout: ANSWER_LIMIT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => LOOK_MS,
  });
  redis.on('error', () => {});
  return redis;
}
