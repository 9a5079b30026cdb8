// What this process is called in Redis: the same for all its locks at one client, and different from any other process.

import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../lock.ts';

const processIds = new WeakMap<RedisClient, string>();

/** A UUID. */
export function processId(redis: RedisClient): string {
  const id = processIds.get(redis) ?? randomUUID();
  processIds.set(redis, id);
  return id;
}
