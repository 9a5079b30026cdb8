// Refund · table
// Problem: the other node has its own lock: both check, both find no row, and both refund.
// Change:  no lock: the order's id is the table's primary key, so only one INSERT writes the row; that request refunds.
// Leaves:  a node that dies between the row and the refund leaves the row, so the money is never paid back.

import type { ResultSetHeader } from 'mysql2/promise';
import type { Refund } from './refund.ts';

const insert = 'INSERT IGNORE INTO tb_refund (order_id, created_at) VALUES (?, UTC_TIMESTAMP(3))';

export const refundOnce: Refund = async ({ id, isPaid, alone, together, refund }) => {
  // An order that is not paid must have no row: it may be paid later.
  if (!(await isPaid())) return undefined;
  const { affectedRows } = await alone((ask) => ask<ResultSetHeader>(insert, [id]));
  return affectedRows === 1 ? together(refund) : undefined;
};
