// Guard · none
// Problem: an order that nobody pays keeps its units for ever.
// Change:  at each tick, read the orders that are due; put the units of each back, and close it.
// Leaves:  two ticks at once read the same orders, and both put their units back.

import type { CleanUp } from './job.ts';

export const cleanUp: CleanUp = async ({ readDue, restore, close }) => {
  for (const order of await readDue()) {
    await restore(order);
    await close(order);
  }
  return 'ran';
};
