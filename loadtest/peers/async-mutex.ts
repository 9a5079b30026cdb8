// async-mutex 0.5: a mutex inside one process. It never claims to be more: two processes each have their own.
// What it says of itself: https://www.npmjs.com/package/async-mutex/v/0.5.0

import { E_ALREADY_LOCKED, Mutex, type MutexInterface, tryAcquire } from 'async-mutex';
import type { Promises } from '../evidence/promises.ts';
import { adapt } from './adapter.ts';

export const options = {
  mutex: 'one for each key in each process',
};

export const promises: Promises = {};

const beyondOneProcess = [
  'contract-enter',
  'rush',
  'sell-out',
  'crashed-holder',
  'slow-holder',
  'late-release',
  'redis-outage',
].map((cell) => [cell, 'It works inside one process only.']);

export const doesNotPromise = {
  ...Object.fromEntries(beyondOneProcess),
  'client-gone': 'acquire() cannot be cancelled: an aborted waiter still gets the lock once, and releases it.',
};

const mutexes = new Map<string, Mutex>();

export const createLock = adapt<MutexInterface.Releaser>(({ key }) => {
  const mutex = mutexes.get(key) ?? new Mutex();
  mutexes.set(key, mutex);

  return {
    wait: () => mutex.acquire(),
    tryOnce: () => tryAcquire(mutex).acquire(),
    release: (leave) => leave(),
    isRefusal: (error) => error === E_ALREADY_LOCKED,
  };
});
