// Guard · in-process
// Problem: two runs at the same time read the same orders, and both return their units.
// Change:  a run is skipped while another run is in progress in this process.
// Leaves:  the other node has its own schedule, so both still run the job at the same time.

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
