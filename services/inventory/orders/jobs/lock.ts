// Guard · a lock of locks/, whichever JOB_LOCK names
// Problem: the other node has a schedule of its own, and both still clean up at once.
// Change:  a tick tries once to get the lock that all nodes share, and is skipped when somebody holds it.
// Leaves:  the lock says who runs, not what is done: a holder that dies half way leaves an order restored and open.

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
  // A tick that is done at once keeps the lock for a while: the schedule of the other node may be a little late.
  const held = minHold();
  try {
    for (const order of await readDue()) {
      // Only a lock beyond stage 8 says that it was lost, and only to a holder that is awake.
      lock.lost?.throwIfAborted();
      await restore(order);
      await close(order);
    }
    return 'ran';
  } finally {
    await held;
    await lock.release();
  }
};
