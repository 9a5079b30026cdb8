// Prints, for every lock in Redis, whichever Redis it is, how many timers are left when its holders and waiters have gone.

import { Redis } from 'ioredis';
import { strategies } from '../../locks/index.ts';
import { lockOptions } from './lock-options.ts';

const [url = '', keyPrefix = ''] = process.argv.slice(2);
const redis = new Redis(url);
await redis.ping();
const before = timers();
const left: Record<string, number> = {};

for (const [stage, strategy] of Object.entries(strategies)) {
  if (strategy.backend !== 'redis' || !('createLock' in strategy) || strategy.commands) continue;
  const { createLock } = strategy;
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
  await redis.del(`${options.key}:tokens`);
  // A connection that is still being made has a timer of its own.
  for (let round = 0; round < 100 && timers() > before; round += 1) await redis.ping();
  left[stage] = timers() - before;
}

console.log(JSON.stringify(left));
process.exit();

function timers() {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}
