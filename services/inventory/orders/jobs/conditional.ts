// Guard · conditional
// Problem: a holder that dies half way leaves an order closed and not restored: its unit never comes back.
// Change:  no lock: an UPDATE closes the order only if it is UNPAID, and its units are restored once for the row it changed.
// Leaves:  stock in Redis is no part of the transaction: it takes a mark for each order, and after a crash one more tick.

import type { ResultSetHeader } from 'mysql2/promise';
import { stockOf } from '../../../../locks/index.ts';
import { restockIt } from '../../servers/mysql.ts';
import type { CleanUp } from './job.ts';

const closeIt = `UPDATE tb_order SET status = 'CLOSED', changed_at = UTC_TIMESTAMP(3)
  WHERE id = ? AND status = 'UNPAID'`;
const markIt = 'UPDATE tb_order SET restored_at = changed_at WHERE id = ?';

export const cleanUp: CleanUp = async ({ readDue, closeIn, restoreClosed }) => {
  for (const order of await readDue()) {
    await closeIn(order, async (ask) => {
      const { affectedRows } = await ask<ResultSetHeader>(closeIt, [order.id]);
      if (affectedRows === 0) return 'nothing';
      if (stockOf(order.lock) === 'redis') return 'closed';
      await ask(restockIt, [order.sku, order.quantity]);
      await ask(markIt, [order.id]);
      return 'restored';
    });
  }
  // Those of this tick, and those that a node closed and did not live to restore.
  await restoreClosed();
  return 'ran';
};
