// Refund · conditional
// Problem: the table repeats what the order's status already says, with one more statement per refund.
// Change:  no table: an UPDATE sets the order to REFUNDED only if it is PAID, and the money moves in the same transaction.
// Leaves:  money that another service pays back is not part of the transaction: that takes a row with a state, like a sale's intent.

import type { Refund } from './refund.ts';

export const refundOnce: Refund = ({ together, refundIfPaid }) => together(refundIfPaid);
