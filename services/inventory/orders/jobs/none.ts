// Guard · none
// Problem: an order that nobody pays keeps its units forever.
// Change:  each run reads the orders that are due, returns the units of each to stock, and closes it.
// Leaves:  two runs at the same time read the same orders, and both return their units.

import type { CleanUp } from './job.ts';

export const cleanUp: CleanUp = async ({ readDue, restore, close }) => {
  for (const order of await readDue()) {
    await restore(order);
    await close(order);
  }
  return 'ran';
};
