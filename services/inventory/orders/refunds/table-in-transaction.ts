// Refund · table-in-transaction
// Problem: a node that dies between the row and the refund leaves the row, so the money is never paid back.
// Change:  the row and the refund are one transaction: both happen, or neither does.
// Leaves:  the table repeats what the order's status already says, with one more statement per refund.

import type { ResultSetHeader } from 'mysql2/promise';
import type { Refund } from './refund.ts';

const insert = 'INSERT IGNORE INTO tb_refund (order_id, created_at) VALUES (?, UTC_TIMESTAMP(3))';

export const refundOnce: Refund = async ({ id, isPaid, together, refund }) => {
  if (!(await isPaid())) return undefined;
  return together(async (ask) => {
    const { affectedRows } = await ask<ResultSetHeader>(insert, [id]);
    return affectedRows === 1 ? refund(ask) : undefined;
  });
};
