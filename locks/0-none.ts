// Stage 0 · none
// Problem: many buyers order the same item at the same moment.
// Change:  nothing protects the sale.
// Leaves:  two requests read the same stock and both sell it.

import type { CreateLock } from './lock.ts';

export const createLock: CreateLock = () => {
  async function acquire() {
    // Everyone enters at once.
  }

  async function release() {
    // Nobody was kept out.
  }

  return { acquire, release };
};
