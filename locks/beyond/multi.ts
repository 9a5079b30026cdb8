// Beyond · multi
// Problem: a sale of several skus needs a lock for each, and two sales that take them in opposite orders deadlock.
// Change:  one lock made of many: acquire takes them one by one, in the order of their keys; release frees them together.
// Leaves:  each sku is written in a separate step; a sale that waits for one sku blocks everyone else from the skus it holds.
// Source:  Redisson, RedissonMultiLock; Havender, Avoiding deadlock in multitasking systems, 1968.

import { type CreateMultiLock, type Lock, LockNotHeldError } from '../lock.ts';
import { createLock } from './fenced.ts';

/** One sku's lock is `fenced`. */
export { createLock };

export const createMultiLock: CreateMultiLock = ({ onLeaseLost, ...options }, keys) => {
  const lost = new AbortController();
  // One order for all: a waiter holds only keys that sort before the key it waits for, so there is no deadlock.
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
        // While it waited for this lock it may have lost another.
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
    // An error without a reply comes first: that lock may still be held.
    if (errors.length > 0) throw errors.find((error) => !(error instanceof LockNotHeldError)) ?? errors[0];
  }

  return { acquire, release, lost: lost.signal, fencingTokenOf: (key) => locks.get(key)?.fencingToken };
};
