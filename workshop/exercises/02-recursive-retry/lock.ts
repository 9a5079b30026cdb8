// Exercise 2: a mutex in the memory of one process.

import { abortable } from '../../../locks/drivers/abortable.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

// For each held key: a promise that resolves when its holder leaves.
const held = new Map<string, Promise<void>>();

export const createLock: CreateLock = ({ key }) => {
  let leave: (() => void) | undefined;

  async function acquire(signal?: AbortSignal) {
    // Change this: the lock must be where both nodes see it. createLock also gets `redis` and `retryDelayMs`.
    while (held.has(key)) await abortable(held.get(key), signal);
    held.set(key, new Promise((resolve) => (leave = resolve)));
  }

  async function release() {
    // And this.
    if (leave === undefined) throw new LockNotHeldError(key);
    held.delete(key);
    leave();
    leave = undefined;
  }

  return { acquire, release };
};
