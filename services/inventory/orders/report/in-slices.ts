// Report · in-slices
// Problem: the loop has no await, so no other job or request runs until it ends.
// Change:  an await after each slice lets everything else that is due run.
// Leaves:  everything still shares one core, and one long slice blocks everybody: that takes a worker thread.

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
