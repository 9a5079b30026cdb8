// redis-semaphore 5: its Mutex.

import { Mutex, TimeoutError } from 'redis-semaphore';
import { abortError } from '../../locks/drivers/abortable.ts';
import { type CreateLock, LockNotHeldError } from '../../locks/lock.ts';
import { oneServer } from './peer.ts';

export const options = {
  lockTimeout: 'the lease',
  acquireTimeout: 'none',
  acquireAttemptsLimit: '1 for a single try',
  onLockLost: 'tells the holder',
};

export const doesNotPromise = {
  'late-release': 'release() does not tell that the lock was no longer held.',
  'nested-call': 'Its Mutex is not reentrant.',
  'paused-process': 'It has no fencing token.',
  'blocked-loop': 'It has no fencing token.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  failover: 'Its Mutex knows one Redis.',
  starvation: 'It promises no order.',
  overtaking: 'It promises no order.',
  'redis-outage': 'A refresh that Redis leaves unanswered is a rejection that nobody handles: it ends the process.',
};

export const createLock: CreateLock = ({ redis, key, leaseMs, onLeaseLost }) => {
  const mutexes: Mutex[] = [];

  async function acquire(signal?: AbortSignal) {
    const isSingleTry = signal?.aborted === true;
    const mutex = new Mutex(oneServer(redis), key, {
      lockTimeout: leaseMs,
      acquireTimeout: Number.POSITIVE_INFINITY,
      ...(isSingleTry && { acquireAttemptsLimit: 1 }),
      onLockLost: onLeaseLost,
    });
    try {
      await mutex.acquire(isSingleTry ? undefined : signal);
    } catch (error) {
      // The library rejects with the reason of the signal; ours reject with AbortError.
      const isCalledOff = error instanceof TimeoutError || error === signal?.reason;
      if (signal?.aborted && isCalledOff) throw abortError(signal);
      throw error;
    }
    mutexes.push(mutex);
  }

  async function release() {
    const mutex = mutexes.pop();
    if (!mutex?.isAcquired) throw new LockNotHeldError(key);
    await mutex.release();
  }

  return { acquire, release };
};
