// async-mutex 0.5: a mutex inside one process. It never claims to be more: two processes each have their own.
// What it says of itself: https://www.npmjs.com/package/async-mutex/v/0.5.0

import { E_ALREADY_LOCKED, Mutex, type MutexInterface, tryAcquire } from 'async-mutex';
import type { Promises } from '../evidence/promises.ts';
import { adapt } from './adapter.ts';

export const options = {
  mutex: 'one for each key in each process',
};

export const promises: Promises = {};

export const doesNotPromise = {
  'contract-enter': 'It works inside one process only.',
  rush: 'It works inside one process only.',
  'sell-out': 'It works inside one process only.',
  'crashed-holder': 'It works inside one process only.',
  'slow-holder': 'It works inside one process only, and knows no lease.',
  'late-release': 'It works inside one process only.',
  'nested-call': 'It is not reentrant.',
  'long-sale': 'It works inside one process only.',
  'paused-process': 'It works inside one process only.',
  'blocked-loop': 'It works inside one process only.',
  partition: 'It works inside one process only.',
  'late-write': 'It works inside one process only.',
  'crossed-write': 'It works inside one process only.',
  failover: 'It works inside one process only.',
  'forgotten-sale': 'The stock is in Redis, whatever the lock does.',
  starvation: 'It works inside one process only.',
  overtaking: 'It works inside one process only.',
  'redis-outage': 'It works inside one process only.',
  'client-gone': 'acquire() cannot be cancelled: a waiter that has gone gets the lock once more and gives it back.',
  'clock-jump': 'It works inside one process only.',
};

const mutexes = new Map<string, Mutex>();

export const createLock = adapt<MutexInterface.Releaser>(({ key }) => {
  const mutex = mutexes.get(key) ?? new Mutex();
  mutexes.set(key, mutex);

  async function tryOnce() {
    try {
      return await tryAcquire(mutex).acquire();
    } catch (error) {
      if (error === E_ALREADY_LOCKED) return undefined;
      throw error;
    }
  }

  return { wait: () => mutex.acquire(), tryOnce, release: (leave) => leave() };
});
