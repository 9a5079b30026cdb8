// Guard · close-first
// Problem: the lock says who runs, not what is done: a holder that dies half way leaves an order restored and open.
// Change:  the other order: close first, then restore, under the lock of stage 8. An order that is closed is never read again.
// Leaves:  a holder that dies half way leaves an order closed and not restored: its unit never comes back.

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
