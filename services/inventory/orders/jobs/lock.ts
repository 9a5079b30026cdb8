// Guard · a lock from locks/, named by JOB_LOCK
// Problem: the other node has its own schedule, so both still run the job at the same time.
// Change:  a run tries once to acquire a lock that all nodes share; if it is held, the run is skipped.
// Leaves:  the lock says who runs, not what is done: a holder that dies halfway leaves an order restored but still open.

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
