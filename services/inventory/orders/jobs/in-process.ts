// Guard · in-process
// Problem: two ticks at once read the same orders, and both put their units back.
// Change:  a tick is skipped while another one runs in this process.
// Leaves:  the other node has a schedule of its own, and both still clean up at once.

import type { CleanUp } from './job.ts';

let isRunning = false;

export const cleanUp: CleanUp = async ({ readDue, restore, close, minHold }) => {
  if (isRunning) return 'skipped';
  isRunning = true;
  const held = minHold();
  try {
    for (const order of await readDue()) {
      await restore(order);
      await close(order);
    }
    return 'ran';
  } finally {
    await held;
    isRunning = false;
  }
};
