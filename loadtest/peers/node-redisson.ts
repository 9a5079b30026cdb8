// node-redisson 1: Redisson's lock with its watchdog.
// What it says of itself: https://www.npmjs.com/package/node-redisson/v/1.0.4

import redisson, { type IRLock, type Redisson as RedissonClient } from 'node-redisson';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled, oneServer } from './adapter.ts';

export const options = {
  redis: 'two connections of its own for each process, one of them to receive releases',
  lockWatchdogTimeout: 'the lease',
  leaseTime: 'true: the watchdog renews the lease',
  clientId: 'the owner token',
};

export const promises: Promises = { reentry: true, renewal: true };

export const doesNotPromise = {
  'redis-outage': 'Its own connection queues commands while Redis is unavailable, and sends them when Redis is back.',
  ...cannotBeCancelled('lock()'),
  'contract-keys':
    'Like Redisson it puts `redisson_` before the name that it is given, for what is not the lock itself.',
};

// It is CommonJS, and Node does not see the names of what it exports again.
const { Redisson } = redisson as unknown as typeof import('node-redisson');

const redissons = new Map<string, RedissonClient>();

export const createLock = adapt<IRLock>(({ redis, key, ownerToken, leaseMs }) => {
  const { host, port } = oneServer(redis).options;
  const name = `${host}:${port} ${leaseMs}`;
  const redisson = redissons.get(name) ?? connect();
  redissons.set(name, redisson);
  const lock = redisson.getLock(key, ownerToken);

  function connect() {
    return new Redisson({ redis: { options: { host, port } }, lockWatchdogTimeout: BigInt(leaseMs) });
  }

  return {
    wait: () => lock.lock().then(() => lock),
    tryOnce: async () => ((await lock.tryLock(0, true)) ? lock : undefined),
    release: () => lock.unlock(),
    // The class of this error is not among what the package exports.
    isRefusal: (error) => error instanceof Error && error.constructor.name === 'RedissonLockError',
  };
});
