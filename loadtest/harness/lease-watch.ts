// What Redis holds under the key of a lock, looked at again and again.

import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClient } from '../../locks/lock.ts';
import { connectRedis } from '../../services/inventory/redis-client.ts';
import type { LeaseSample } from '../evidence/timeline.ts';
import { sharedClock } from './shared-clock.ts';

/** How often Redis is asked, in milliseconds. */
const LOOK_MS = 20;
/** How long Redis may leave a question unanswered, in milliseconds. */
const ANSWER_LIMIT_MS = 200;

export interface LeaseWatch {
  /** What was seen so far, oldest first. Moments at which Redis did not answer are missing. */
  samples: LeaseSample[];
  /** How much longer than it should the slowest look so far took, in milliseconds: a measure of how busy the machine is. */
  slowestMs(): number;
  /** Looks there from here on. */
  moveTo(redisUrl: string): void;
  close(): Promise<void>;
}

/** What Redis holds under the lock's key now. Resolves with undefined when it does not answer. */
export async function readLease(redis: RedisClient, key: string): Promise<Omit<LeaseSample, 'at'> | undefined> {
  const answers = await redis
    .pipeline()
    .pttl(key)
    .get(key)
    .hkeys(key)
    .exec()
    .catch(() => null);
  const [ttl, text, fields] = answers ?? [];
  // One of the two is an error: a key holds a string or a hash.
  if (!ttl || ttl[0] || (text?.[0] && fields?.[0])) return undefined;
  const ttlMs = Number(ttl[1]);
  const owner = text?.[1] ?? (fields?.[1] as string[] | undefined)?.[0];
  return {
    ttlMs: ttlMs === -1 ? Number.POSITIVE_INFINITY : Math.max(0, ttlMs),
    ...(owner !== undefined && { owner: String(owner) }),
  };
}

/** Looks again and again at the lock's key in Redis itself: no lock is asked what it thinks it holds. */
export function watchLease(redisUrl: string, key: string): LeaseWatch {
  let redis = connect(redisUrl);
  const samples: LeaseSample[] = [];
  let isClosed = false;
  let slowestMs = 0;

  async function look() {
    const lease = await readLease(redis, key);
    if (lease) samples.push({ at: sharedClock(), ...lease });
  }

  async function watch() {
    while (!isClosed) {
      const from = sharedClock();
      await look();
      await sleep(LOOK_MS);
      slowestMs = Math.max(slowestMs, sharedClock() - from - LOOK_MS);
    }
  }

  const ended = watch();
  return {
    samples,
    slowestMs: () => slowestMs,
    moveTo(redisUrl) {
      redis.disconnect();
      redis = connect(redisUrl);
    },
    async close() {
      isClosed = true;
      redis.disconnect();
      await ended;
    },
  };
}

function connect(redisUrl: string) {
  const redis = connectRedis(redisUrl, {
    commandTimeout: ANSWER_LIMIT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => LOOK_MS,
  });
  redis.on('error', () => {});
  return redis;
}
