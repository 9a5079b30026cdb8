// redis-semaphore 5: its Mutex.

import { Mutex } from 'redis-semaphore';
import { adapt } from './adapter.ts';
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
  'forgotten-sale': 'The stock is in Redis, whatever the lock does.',
  'clock-jump': 'Its lease is counted by the clock of one Redis.',
  starvation: 'It promises no order.',
  overtaking: 'It promises no order.',
  'redis-outage': 'A refresh that Redis leaves unanswered is a rejection that nobody handles: it ends the process.',
};

export const createLock = adapt<Mutex>(({ redis, key, leaseMs, onLeaseLost }) => {
  const open = (limits: { acquireAttemptsLimit?: number }) =>
    new Mutex(oneServer(redis), key, {
      lockTimeout: leaseMs,
      acquireTimeout: Number.POSITIVE_INFINITY,
      onLockLost: onLeaseLost,
      ...limits,
    });

  async function wait(signal?: AbortSignal) {
    const mutex = open({});
    await mutex.acquire(signal);
    return mutex;
  }

  async function tryOnce() {
    const mutex = open({ acquireAttemptsLimit: 1 });
    return (await mutex.tryAcquire()) ? mutex : undefined;
  }

  async function release(mutex: Mutex) {
    if (!mutex.isAcquired) return false;
    await mutex.release();
  }

  return { wait, tryOnce, release };
});
