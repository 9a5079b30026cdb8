// Prints how many bytes each failed try of a stage keeps in memory while its waiter waits, and after the wait has ended.
// Needs --expose-gc. The lock is held by nobody who would ever give it up.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { locks } from '../../locks/index.ts';
import { lockOptions } from './lock-options.ts';

const WAITERS = 200;
const WARM_UP_TRIES = 5_000;
const TRIES = 40_000;

const [stage = '', url = '', key = ''] = process.argv.slice(2);
const redis = new Redis(url);
await redis.set(key, 'held by nobody');
await redis.config('RESETSTAT');

const waiters = Array.from({ length: WAITERS }, () => {
  const patience = new AbortController();
  const lock = locks[stage]?.(lockOptions({ redis, key, retryDelayMs: 0 }));
  return { patience, ended: lock?.acquire(patience.signal).catch(() => {}) };
});
const before = await memoryAfter(WARM_UP_TRIES);
const during = await memoryAfter(WARM_UP_TRIES + TRIES);
for (const { patience } of waiters) patience.abort();
await Promise.all(waiters.map(({ ended }) => ended));
const after = memory(await countTries());

await redis.del(key);
redis.disconnect();
const tries = during.tries - before.tries;
console.log(
  JSON.stringify({
    tries,
    bytesPerTry: (during.bytes - before.bytes) / tries,
    bytesPerTryAfterwards: (after.bytes - before.bytes) / tries,
  }),
);

async function memoryAfter(goal: number) {
  let tries = await countTries();
  while (tries < goal) {
    await sleep(10);
    tries = await countTries();
  }
  return memory(tries);
}

function memory(tries: number) {
  globalThis.gc?.();
  return { tries, bytes: process.memoryUsage().heapUsed };
}

/** Every try is one SET, and Redis counts them. */
async function countTries() {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_set:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
