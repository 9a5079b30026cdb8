// redis-semaphore 5: its Mutex, in one Redis.

import { Mutex } from 'redis-semaphore';
import type { Promises } from '../evidence/promises.ts';
import { adapt, oneServer } from './adapter.ts';

export const options = {
  lockTimeout: 'the lease',
  acquireTimeout: 'none',
  acquireAttemptsLimit: '1 for a single try',
  onLockLost: 'tells the holder',
};

export const promises: Promises = { renewal: true };

const readme = 'https://www.npmjs.com/package/redis-semaphore/v/5.8.0';

export const claims = [
  {
    quote: '`lockTimeout` - _optional_ ms, time after mutex will be auto released (expired)',
    source: readme,
  },
  {
    quote: '`refreshInterval` - _optional_ ms, auto-refresh interval; to disable auto-refresh behaviour set `0`',
    source: readme,
  },
  {
    quote:
      '`onLockLost` - _optional_ function, called when lock loss is detected due refresh cycle; default onLockLost throws unhandled LostLockError',
    source: readme,
  },
  {
    quote:
      "It's safe to always call release, because if lock is no longer belongs to this mutex, .release() will have no effect",
    source: readme,
  },
];

export const doesNotPromise = {
  'nested-call': 'Its Mutex is not reentrant.',
  'paused-process': 'It has no fencing token, and hears of a lost lock at its next refresh.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  failover: 'Its Mutex knows one Redis.',
};

interface Held {
  mutex: Mutex;
  lost: AbortSignal;
}

export const createLock = adapt<Held>(({ redis, key, leaseMs, onLeaseLost }) => {
  function open(limits: { acquireAttemptsLimit?: number }) {
    const lost = new AbortController();
    const onLockLost = () => {
      onLeaseLost();
      lost.abort();
    };
    const acquireTimeout = Number.POSITIVE_INFINITY;
    const mutex = new Mutex(oneServer(redis), key, { lockTimeout: leaseMs, acquireTimeout, onLockLost, ...limits });
    return { mutex, lost: lost.signal };
  }

  async function wait(signal?: AbortSignal) {
    const held = open({});
    await held.mutex.acquire(signal);
    return held;
  }

  async function tryOnce() {
    const held = open({ acquireAttemptsLimit: 1 });
    return (await held.mutex.tryAcquire()) ? held : undefined;
  }

  async function release({ mutex }: Held) {
    if (!mutex.isAcquired) return false;
    await mutex.release();
  }

  return { wait, tryOnce, release, lost: ({ lost }) => lost };
});
