// Refund · table-look-first
// Problem: two simultaneous requests both find the order paid, and both refund it.
// Change:  a table of refunded orders: check, write the row, then refund, under an in-process lock.
// Leaves:  the other node has its own lock: both check, both find no row, and both refund.

import type { RowDataPacket } from 'mysql2/promise';
import type { Refund } from './refund.ts';

const underWay = new Set<string>();

export const refundOnce: Refund = async ({ id, isPaid, alone, together, refund }) => {
  if (underWay.has(id)) return undefined;
  underWay.add(id);
  try {
    const find = 'SELECT order_id FROM tb_refund WHERE order_id = ?';
    const rows = await alone((ask) => ask<RowDataPacket[]>(find, [id]));
    if (rows.length > 0 || !(await isPaid())) return undefined;
    // Nobody asks how many rows it has written: the look has decided, and the key of the table has no say.
    await alone((ask) => ask('INSERT IGNORE INTO tb_refund (order_id, created_at) VALUES (?, UTC_TIMESTAMP(3))', [id]));
    return await together(refund);
  } finally {
    underWay.delete(id);
  }
};
