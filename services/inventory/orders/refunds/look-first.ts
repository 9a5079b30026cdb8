// Refund · look-first
// Problem: a refund is asked for twice, and the money must be paid back once.
// Change:  look whether the order is paid, then refund it.
// Leaves:  two requests at once both find it paid, and both refund it.

import type { Refund } from './refund.ts';

export const refundOnce: Refund = async ({ isPaid, together, refund }) => {
  if (!(await isPaid())) return undefined;
  return together(refund);
};
