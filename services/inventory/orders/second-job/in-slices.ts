// Report · in-slices
// Problem: the loop comes to no await, so no other job and no request has its turn before the end.
// Change:  an await after each slice: everything that is due has its turn there.
// Leaves:  all share the time of one core still, and a single slice that is long holds up everybody: that needs a worker thread.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { addUpSlice } from './slice.ts';

export async function report(forMs: number) {
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    addUpSlice();
    await nextTurn();
  }
}
