// A process that holds a lock: it enters, stays inside until SIGUSR2, writes, and gives the lock up.

import { once } from 'node:events';
import { Redis } from 'ioredis';
import { locks } from '../../locks/index.ts';

const [stage = '', url = '', key = '', leaseMs = ''] = process.argv.slice(2);
const redis = new Redis(url);
const lock = locks[stage]?.({
  redis,
  masters: [],
  mysql: undefined as never,
  zookeeper: undefined as never,
  key,
  ownerToken: `process ${process.pid}`,
  leaseMs: Number(leaseMs),
  retryDelayMs: 1,
  onLeaseLost: () => console.log('lease-lost'),
});

await lock?.acquire();
const toldToGoOn = once(process, 'SIGUSR2');
console.log('entered');
await toldToGoOn;
console.log('wrote');
await lock?.release().then(
  () => console.log('released'),
  (error) => console.log(error.code),
);
redis.disconnect();
