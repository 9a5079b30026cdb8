// Exercise 1: the lock that keeps nobody out.

import type { CreateLock } from '../../../locks/lock.ts';

export const createLock: CreateLock = () => {
  async function acquire() {
    // Change this: one sale goes on, and the others wait here.
  }

  async function release() {
    // And this: the next one may go on.
  }

  return { acquire, release };
};
