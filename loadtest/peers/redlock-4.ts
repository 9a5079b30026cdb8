// redlock 4, which npm calls the latest: `lock()` and `unlock()` with all masters. It extends nothing by itself.
// What it says of itself: https://www.npmjs.com/package/redlock/v/4.2.0

import Redlock from 'redlock-4';
import type { Promises } from '../evidence/promises.ts';
import { adapt, cannotBeCancelled } from './adapter.ts';

export const options = {
  clients: 'one for each of five masters',
  ttl: 'the lease',
  retryCount: '-1 (no limit) while it waits, 0 for a single try',
};

export const promises: Promises = { masters: true };

export const doesNotPromise = {
  ...cannotBeCancelled('lock()'),
};

export const createLock = adapt<Redlock.Lock>(({ masters, key, leaseMs }) => {
  const open = (retryCount: number) => new Redlock(masters, { retryCount });

  return {
    wait: async () => open(-1).lock(key, leaseMs),
    tryOnce: async () => open(0).lock(key, leaseMs),
    release: (lock) => lock.unlock(),
    isRefusal: (error) => error instanceof Redlock.LockError,
  };
});
