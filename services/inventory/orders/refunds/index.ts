import { refundOnce as conditional } from './conditional.ts';
import { refundOnce as lookFirst } from './look-first.ts';
import type { Refund } from './refund.ts';
import { refundOnce as table } from './table.ts';
import { refundOnce as tableInTransaction } from './table-in-transaction.ts';
import { refundOnce as tableLookFirst } from './table-look-first.ts';

/** Every way to refund, by its name in REFUND, in the order of the lesson. The name is also that of its file. */
export const refunds = {
  'look-first': lookFirst,
  'table-look-first': tableLookFirst,
  table,
  'table-in-transaction': tableInTransaction,
  conditional,
} satisfies Record<string, Refund>;
