// A process that holds a lock: it enters, stays inside until SIGUSR2, writes, and gives the lock up.

import { once } from 'node:events';
import { Redis } from 'ioredis';
import { openZookeeper } from '../../locks/drivers/zookeeper-session.ts';
import { strategies } from '../../locks/index.ts';
import { lockOptions } from './lock-options.ts';

const [stage = '', url = '', key = '', leaseMs = ''] = process.argv.slice(2);
const redis = url.startsWith('redis:') ? new Redis(url) : undefined;
const zookeeper = redis ? undefined : openZookeeper({ url, sessionMs: Number(leaseMs) });
const strategy = strategies[stage];
if (strategy === undefined || !('createLock' in strategy)) throw new Error(`There is no lock ${stage}.`);
const lock = strategy.createLock(
  lockOptions({
    redis: redis as Redis,
    ...(zookeeper && { zookeeper }),
    key,
    ownerToken: `process ${process.pid}`,
    leaseMs: Number(leaseMs),
    onLeaseLost: () => console.log('lease-lost'),
  }),
);

console.log('asking');
await lock.acquire();
const resumed = once(process, 'SIGUSR2');
console.log('entered');
// Not even a lost session ends it before it is asked to.
const stay = setInterval(() => {}, 60_000);
await resumed;
clearInterval(stay);
console.log('wrote');
await lock.release().then(
  () => console.log('released'),
  (error) => console.log(error.code),
);
redis?.disconnect();
await zookeeper?.close();
