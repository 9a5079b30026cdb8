// What the locks of redis-semaphore have in common.
// What it says of itself: https://www.npmjs.com/package/redis-semaphore/v/5.8.0

import type { Mutex } from 'redis-semaphore';
import type { LockOptions } from '../../locks/lock.ts';
import { adapt } from './adapter.ts';

export const semaphoreOptions = {
  lockTimeout: 'the lease',
  acquireTimeout: 'none',
  acquireAttemptsLimit: '1 for a single try',
  onLockLost: 'tells the holder',
};

export const semaphoreDoesNotPromise = {
  'contract-not-held': 'release() does not report that the lock was no longer held.',
  'contract-keys': 'It puts `mutex:` before the name that it is given.',
};

interface Settings {
  lockTimeout: number;
  acquireTimeout: number;
  onLockLost: () => void;
  acquireAttemptsLimit?: number;
}

interface Held {
  mutex: Pick<Mutex, 'acquire' | 'tryAcquire' | 'release' | 'isAcquired'>;
  lost: AbortSignal;
}

/** The lock of a mutex that `make` makes, one for each hold. */
export const adaptMutex = (make: (options: LockOptions, settings: Settings) => Held['mutex']) =>
  adapt<Held>((options) => {
    function open(limits: { acquireAttemptsLimit?: number }) {
      const lost = new AbortController();
      const onLockLost = () => {
        options.onLeaseLost();
        lost.abort();
      };
      const acquireTimeout = Number.POSITIVE_INFINITY;
      const mutex = make(options, { lockTimeout: options.leaseMs, acquireTimeout, onLockLost, ...limits });
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
