import type { CreateLock } from '../../locks/lock.ts';

let last: Promise<void> = Promise.resolve();

/**
 * One queue in this process, first come first served, and no lock. With all waiters in one process this is the most that a lock of one
 * process can reach that lets one section in at a time. A waiter can't be cancelled: it leaves when its turn has come.
 */
export const createLock: CreateLock = () => {
  let leave = () => {};

  return {
    acquire() {
      const before = last;
      last = new Promise((resolve) => {
        leave = resolve;
      });
      return before;
    },
    async release() {
      leave();
    },
  };
};
