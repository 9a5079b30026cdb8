// Beyond · multi
// Problem: a sale of several skus needs the lock of each, and two that take them in opposite orders wait for each other for ever.
// Change:  one lock made of many: taken one by one in the order of their keys, whatever the request says, and given up together.
// Leaves:  the writes of several skus are several steps; a sale that waits for one sku keeps everybody else waiting for those it holds.
// Source:  Redisson, RedissonMultiLock; Havender, Avoiding deadlock in multitasking systems, 1968.

import { type CreateMultiLock, type Lock, LockNotHeldError } from '../lock.ts';
import { createLock } from './fenced.ts';

/** The lock of one sku is that of fenced. */
export { createLock };

export const createMultiLock: CreateMultiLock = ({ onLeaseLost, ...options }, keys) => {
  const lost = new AbortController();
  // One order for all: who waits for a key has none that comes after it, so nobody waits in a circle.
  const locks = new Map(keys.toSorted().map((key) => [key, lockOf(key)]));

  function lockOf(key: string): Lock {
    return createLock({ ...options, key, onLeaseLost: () => lose(key) });
  }

  function lose(key: string) {
    if (lost.signal.aborted) return;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function acquire(signal?: AbortSignal) {
    const taken: Lock[] = [];
    try {
      for (const lock of locks.values()) {
        await lock.acquire(signal);
        taken.unshift(lock);
        // While it waited for this one it may have lost another.
        lost.signal.throwIfAborted();
      }
    } catch (error) {
      await Promise.allSettled(taken.map((lock) => lock.release()));
      throw error;
    }
  }

  async function release() {
    const ends = await Promise.allSettled([...locks.values()].reverse().map((lock) => lock.release()));
    const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    // One that was not answered comes first: that lock may still be held.
    if (errors.length > 0) throw errors.find((error) => !(error instanceof LockNotHeldError)) ?? errors[0];
  }

  return { acquire, release, lost: lost.signal, fencingTokenOf: (key) => locks.get(key)?.fencingToken };
};
