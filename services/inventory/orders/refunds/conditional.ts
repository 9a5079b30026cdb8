// Refund · conditional
// Problem: the table says what the status of the order says already, with one more statement for each refund.
// Change:  no table: an UPDATE sets the order REFUNDED only if it is PAID, and the money moves in the same transaction.
// Leaves:  money that another service pays back is part of no transaction: that takes a row with a state, as the intent of a sale.

import type { Refund } from './refund.ts';

export const refundOnce: Refund = ({ together, refundIfPaid }) => together(refundIfPaid);
