// redis-semaphore 5: its Mutex, in one Redis.

import { Mutex } from 'redis-semaphore';
import type { Promises } from '../evidence/promises.ts';
import { oneServer } from './adapter.ts';
import { adaptMutex, onLockLostSaid, readme, semaphoreDoesNotPromise, semaphoreOptions } from './semaphore-family.ts';

export const options = semaphoreOptions;

export const promises: Promises = { renewal: true };

export const claims = [
  {
    quote: '`lockTimeout` - _optional_ ms, time after mutex will be auto released (expired)',
    source: readme,
  },
  {
    quote: '`refreshInterval` - _optional_ ms, auto-refresh interval; to disable auto-refresh behaviour set `0`',
    source: readme,
  },
  { quote: onLockLostSaid, source: readme },
  {
    quote:
      "It's safe to always call release, because if lock is no longer belongs to this mutex, .release() will have no effect",
    source: readme,
  },
];

export const doesNotPromise = {
  'nested-call': 'Its Mutex is not reentrant.',
  ...semaphoreDoesNotPromise,
  failover: 'Its Mutex knows one Redis.',
};

export const createLock = adaptMutex(({ redis, key }, settings) => new Mutex(oneServer(redis), key, settings));
