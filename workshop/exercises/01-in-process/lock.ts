// Exercise 1: a lock that keeps nobody out.

import type { CreateLock } from '../../../locks/lock.ts';

export const createLock: CreateLock = () => {
  async function acquire() {
    // Change this: one sale continues, the others wait here.
  }

  async function release() {
    // And this: the next sale may continue.
  }

  return { acquire, release };
};
