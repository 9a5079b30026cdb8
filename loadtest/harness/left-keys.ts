// The keys that stay in Redis besides the stock, and for how long.

import { mastersOf } from '../../services/inventory/redis-client.ts';
import { fenceKey, stockKey } from '../../services/inventory/store.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { network } from './network.ts';

const SKU = '001';
/** How long Redis may take to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 2_000;

/** A key, and how long it has to live, in milliseconds: `Infinity` without an end. */
export interface LeftKey {
  key: string;
  leftMs: number;
}

/** The keys that are in Redis now, those of the stock apart, the one that lasts longest first. Rejects when Redis does not answer. */
export async function readLeftKeys(redisUrl: string): Promise<LeftKey[]> {
  const redis = network().connectRedis(redisUrl, { commandTimeout: ANSWER_LIMIT_MS });
  redis.on('error', () => {});
  try {
    await redis.ping();
    const left: LeftKey[] = [];
    for (const server of mastersOf(redis)) {
      for (const key of await server.keys('*')) {
        const ttlMs = await server.pttl(key);
        // It may have gone since.
        if (ttlMs !== -2 && ![stockKey(SKU), fenceKey(SKU)].includes(key))
          left.push({ key, leftMs: ttlMs === -1 ? Number.POSITIVE_INFINITY : ttlMs });
      }
    }
    return left.sort((a, b) => b.leftMs - a.leftMs);
  } finally {
    redis.disconnect();
  }
}

/** " The key … stayed, for 5.4 s more.": a sentence that follows another. */
export function describeLeftKey({ key, leftMs }: LeftKey): string {
  const time = leftMs === Number.POSITIVE_INFINITY ? 'without an end' : `for ${formatDuration(leftMs)} more`;
  return ` The key ${key} stayed, ${time}.`;
}
