// Closes orders that were not paid in time, and returns their units to stock. Both nodes do this, each on its own schedule.

import type { CleanUp } from '../orders/contract.ts';

const CLOSE = `UPDATE tb_order SET status = 'CLOSED', changed_at = UTC_TIMESTAMP(3), restored_at = UTC_TIMESTAMP(3)
  WHERE id = ? AND status = 'UNPAID'`;
const PUT_BACK = 'UPDATE tb_stock SET stock = stock + ? WHERE sku = ?';

export const cleanUp: CleanUp = async ({ readDue, inTransaction }) => {
  for (const order of await readDue()) {
    await inTransaction(order, async (mysql) => {
      // The other node may have closed it meanwhile, or the buyer has paid: then it stays as it is.
      await mysql.write(CLOSE, [order.id]);
      await mysql.write(PUT_BACK, [order.quantity, order.sku]);
    });
  }
};
