// Report · in-slices
// Problem: the loop comes to no await, so no other job and no request has its turn before the end.
// Change:  an await after each slice: everything that is due has its turn there.
// Leaves:  all share the time of one core still, and a single slice that is long holds up everybody: that needs a worker thread.

import { setImmediate as nextTurn } from 'node:timers/promises';

export async function report(forMs: number) {
  const end = performance.now() + forMs;
  let sum = 0;
  while (performance.now() < end) {
    for (let sale = 0; sale < 10_000; sale += 1) sum += 1;
    await nextTurn();
  }
  return sum;
}
