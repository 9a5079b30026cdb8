// Prints, for every stage, how many timers are left when its holders and waiters have gone.

import { Redis } from 'ioredis';
import { locks } from '../../locks/index.ts';
import { lockOptions } from './lock-options.ts';

const [url = '', keyPrefix = ''] = process.argv.slice(2);
const redis = new Redis(url);
await redis.ping();
const before = timers();
const left: Record<string, number> = {};

for (const [stage, createLock] of Object.entries(locks)) {
  const options = { redis, key: `${keyPrefix} ${stage}`, retryDelayMs: 60_000 };
  const holder = createLock(lockOptions(options));
  const waiter = createLock(lockOptions(options));
  const patience = new AbortController();

  await holder.acquire(patience.signal);
  const waiting = waiter.acquire(patience.signal).catch(() => {});
  await redis.ping();
  patience.abort();
  await waiting;
  await waiter.acquire(AbortSignal.abort()).catch(() => {});
  await holder.release();
  left[stage] = timers() - before;
}

console.log(JSON.stringify(left));
process.exit();

function timers() {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}
