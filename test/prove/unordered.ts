// A lock of several skus that is wrong on purpose: it takes them in the order in which it is asked, and each sale has an order of its own.

import { createLock } from '../../locks/beyond/fenced.ts';
import type { CreateMultiLock } from '../../locks/lock.ts';

export { createLock };

export const createMultiLock: CreateMultiLock = (options, keys) => {
  const locks = new Map(keys.map((key) => [key, createLock({ ...options, key })]));

  async function acquire(signal?: AbortSignal) {
    for (const lock of locks.values()) await lock.acquire(signal);
  }

  async function release() {
    for (const lock of [...locks.values()].reverse()) await lock.release();
  }

  return {
    acquire,
    release,
    lost: new AbortController().signal,
    fencingTokenOf: (key) => locks.get(key)?.fencingToken,
  };
};
