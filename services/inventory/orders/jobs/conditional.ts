// Guard · conditional
// Problem: a holder that dies halfway leaves an order closed but not restored: its unit is never returned.
// Change:  no lock: an UPDATE closes the order only if it is UNPAID, and only a changed row's units are restored, once.
// Leaves:  stock in Redis is not part of the transaction: it takes a mark for each order, and after a crash one more run.

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
