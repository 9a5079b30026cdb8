// node-redis-warlock 1: callbacks, on ioredis, whose calls with callbacks are those of the node-redis that it was made for.
// What it says of itself: https://www.npmjs.com/package/node-redis-warlock/v/1.0.2

import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import createWarlock, { type Unlock, type Warlock } from 'node-redis-warlock';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled, oneServer } from './adapter.ts';

export const options = {
  redis: 'ioredis: it asks for node-redis 0.10 to 3, whose callbacks ioredis knows and newer node-redis does not',
  ttl: 'the lease',
  maxAttempts: 'no limit while it waits; a single try is lock()',
  wait: 'the delay between two tries, 20 ms in the drills',
};

export const promises: Promises = {};

export const doesNotPromise = {
  ...cannotBeCancelled('optimistic()'),
};

const warlocks = new WeakMap<Redis, Warlock>();

export const createLock = adapt<Unlock>(({ redis, key, leaseMs, retryDelayMs }) => {
  const client = oneServer(redis);
  const warlock = warlocks.get(client) ?? createWarlock(client);
  warlocks.set(client, warlock);
  const lock = promisify<string, number, Unlock | false>(warlock.lock);
  const optimistic = promisify<string, number, number, number, Unlock>(warlock.optimistic);

  return {
    wait: () => optimistic(key, leaseMs, Number.POSITIVE_INFINITY, retryDelayMs),
    tryOnce: async () => (await lock(key, leaseMs)) || undefined,
    release: async (unlock) => (await promisify(unlock)()) === 1,
  };
});
