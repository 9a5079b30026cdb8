// Refund · look-first
// Problem: a refund is requested twice, but the money must be paid back once.
// Change:  check that the order is paid, then refund it.
// Leaves:  two simultaneous requests both find the order paid, and both refund it.

import type { Refund } from './refund.ts';

export const refundOnce: Refund = async ({ isPaid, together, refund }) => {
  if (!(await isPaid())) return undefined;
  return together(refund);
};
