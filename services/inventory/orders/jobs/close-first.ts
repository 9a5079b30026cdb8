// Guard · close-first
// Problem: the lock says who runs, not what is done: a holder that dies halfway leaves an order restored but still open.
// Change:  close the order first, then restore its units, under the lock of stage 8. A closed order is never read again.
// Leaves:  a holder that dies halfway leaves an order closed but not restored: its unit is never returned.

import type { CleanUp } from './job.ts';

const oneTry = AbortSignal.abort();

export const cleanUp: CleanUp = async ({ readDue, restore, close, openLock, minHold }) => {
  const lock = openLock();
  try {
    await lock.acquire(oneTry);
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return 'skipped';
    throw error;
  }
  const held = minHold();
  try {
    for (const order of await readDue()) {
      await close(order);
      await restore(order);
    }
    return 'ran';
  } finally {
    await held;
    await lock.release();
  }
};
