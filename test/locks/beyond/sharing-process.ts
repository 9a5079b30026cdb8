// A process that shares a lock with one other: 20 waiters enter again and again for 800 ms, once both are ready. Each holds for
// a read and a write. Prints when each entered, in milliseconds by the clock that all processes share, and for how long the
// process stood still at most: a machine with other work to do may stop it.

import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { createLock } from '../../../locks/beyond/cohort.ts';
import { lockOptions } from '../lock-options.ts';

const [url = '', key = ''] = process.argv.slice(2);
const redis = new Redis(url);
const instance = randomUUID();
const enteredAt: number[] = [];

await redis.incr(`${key}:ready`);
while (Number(await redis.get(`${key}:ready`)) < 2);
const endsAt = now() + 800;
const standstill = monitorEventLoopDelay({ resolution: 1 });
standstill.enable();

async function enterAgain() {
  while (now() < endsAt) {
    const lock = createLock(lockOptions({ redis, key, ownerToken: `${instance}:${enteredAt.length}` }));
    await lock.acquire();
    enteredAt.push(now());
    const count = Number(await redis.get(`${key}:count`));
    await redis.set(`${key}:count`, count + 1);
    await lock.release();
  }
}

await Promise.all(Array.from({ length: 20 }, enterAgain));
console.log(JSON.stringify({ enteredAt, standstillMs: standstill.max / 1e6 }));
redis.disconnect();

function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}
