import { randomUUID } from 'node:crypto';
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { stockOf, strategies } from '../../../locks/index.ts';
import { ProblemError } from '../problem.ts';
import { connectMysql, readSchema, stockTables } from '../servers/mysql.ts';
import { type Ask, inTransaction, withoutTransaction } from '../servers/transaction.ts';
import type { InventorySettings } from '../settings/settings.ts';
import type { Keep } from './idempotency/once.ts';
import { type ListQuery, type NewOrder, type Order, type OrderStatus, statusBefore } from './order.ts';
import { refunds } from './refunds/index.ts';

const columns = `id, sku, quantity, amount, status, node, sale_id AS saleId, lock_name AS \`lock\`,
  created_at AS createdAt, due_at AS dueAt, changed_at AS changedAt, restored_at AS restoredAt`;

type OrderSettings = Pick<InventorySettings, 'UNIT_PRICE' | 'ORDER_TTL_MS'> &
  Partial<Pick<InventorySettings, 'REFUND'>>;
export type OrderStore = ReturnType<typeof createOrderStore>;

/** Opens a connection pool that creates the tables of the orders, of the stock, and the given ones before its first statement. */
export function connectOrders(url: string, connections: number, tables: string[] = [], inDoubt?: () => void): Pool {
  const own = readSchema(new URL('schema.sql', import.meta.url));
  return connectMysql(url, connections, [...stockTables(), ...own, ...tables], inDoubt);
}

/**
 * The orders in MySQL. While it is unavailable, every call rejects, with what `isMysqlUnavailable` knows or
 * with ProblemError STORE_UNAVAILABLE. Then nothing is written, unless the error says that it may be.
 */
export function createOrderStore(mysql: Pool, { UNIT_PRICE, ORDER_TTL_MS, REFUND = 'conditional' }: OrderSettings) {
  const reach = () => withoutTransaction(mysql, (ask) => ask('SELECT 1'));
  // The tables are to be there from the start. While MySQL is away, the first statement after it makes them.
  reach().catch(() => {});

  /**
   * Changes the status and moves the money, in the transaction of `ask`. Resolves with undefined
   * when the order is in none of these states: only one of two that come at once finds it there.
   */
  async function moveOn(ask: Ask, id: string, from: OrderStatus[], to: 'PAID' | 'REFUNDED', keep?: Keep) {
    const update = 'UPDATE tb_order SET status = ?, changed_at = UTC_TIMESTAMP(3) WHERE id = ? AND status IN (?)';
    const { affectedRows } = await ask<ResultSetHeader>(update, [to, id, from]);
    const order = affectedRows === 1 ? await findIn(ask, id) : undefined;
    if (order) await moveMoney(ask, order, to === 'PAID' ? 'PAYMENT' : 'REFUND');
    if (order) await keep?.(ask, order);
    return order;
  }

  /** Rejects with ProblemError NOT_FOUND or ORDER_STATE; not definite if MySQL did not confirm the change. */
  async function pay(id: string, keep?: Keep): Promise<Order> {
    const paid = await inTransaction(mysql, (ask) => moveOn(ask, id, ['UNPAID'], 'PAID', keep));
    if (paid === undefined) throw refuseStep(await find(id), 'PAID');
    return paid;
  }

  /** Returns the money but not the goods: the units stay sold. Rejects like `pay`. */
  async function refund(id: string, keep?: Keep): Promise<Order> {
    const refunded = await refunds[REFUND]({
      id,
      isPaid: async () => (await find(id)).status === 'PAID',
      alone: (work) => withoutTransaction(mysql, work),
      together: (work) => inTransaction(mysql, work),
      refund: (ask) => moveOn(ask, id, ['PAID', 'REFUNDED'], 'REFUNDED', keep),
      refundIfPaid: (ask) => moveOn(ask, id, ['PAID'], 'REFUNDED', keep),
    });
    if (refunded === undefined) throw refuseStep(await find(id), 'REFUNDED');
    return refunded;
  }

  /** Rejects with ProblemError NOT_FOUND. */
  async function find(id: string): Promise<Order> {
    const order = await withoutTransaction(mysql, (ask) => findIn(ask, id));
    if (order === undefined) throw noSuchOrder(id);
    return order;
  }

  /**
   *
   * Books a payment, which may be partial: the order is PAID once the full amount has arrived. Unexpected money is booked too.
   * Rejects with ProblemError NOT_FOUND; not definite when MySQL did not answer whether it is booked.
   *
   */
  function receive({ order: id, amount }: { order: string; amount: number }, keep?: Keep): Promise<Order> {
    return inTransaction(mysql, async (ask) => {
      // Two parts that come at once are booked one after the other, so that the later one sees the sum of both.
      await ask('SELECT id FROM tb_order WHERE id = ? FOR UPDATE', [id]);
      await moveMoney(ask, { id, amount }, 'PAYMENT');
      const paid = "SELECT SUM(amount) FROM tb_payment WHERE order_id = ? AND kind = 'PAYMENT'";
      const update = `UPDATE tb_order SET status = 'PAID', changed_at = UTC_TIMESTAMP(3)
        WHERE id = ? AND status = 'UNPAID' AND tb_order.amount <= (${paid})`;
      await ask(update, [id, id]);
      const order = await findIn(ask, id);
      if (order === undefined) throw noSuchOrder(id);
      await keep?.(ask, order);
      return order;
    });
  }

  return {
    /**
     *
     * Records what a sale is about to take: the evidence if its node dies before the order is written. Rejects with AbortError
     * when `signal` aborts before it is sent.
     *
     */
    async intend(order: NewOrder, signal: AbortSignal) {
      await withoutTransaction(mysql, (ask) => ask(...insertIntent(order)), { signal });
    },
    /** Deletes the intent of a sale that has certainly taken nothing. */
    async forget(id: string) {
      await withoutTransaction(mysql, (ask) => ask('DELETE FROM tb_intent WHERE id = ?', [id]));
    },
    /**
     *
     * Replaces the intent with the order. Resolves with false if the intent was settled meanwhile, and its units perhaps
     * returned: there is no order then, and the intent is there again. Rejects with what `isInDoubt` knows when the order may
     * be written; after every other rejection it is not. `keep` is done in the same transaction.
     *
     */
    place(order: NewOrder, keep?: (ask: Ask) => Promise<void>): Promise<boolean> {
      const { id, sku, quantity, node, lock, saleId } = order;
      return inTransaction(mysql, async (ask) => {
        const { affectedRows } = await ask<ResultSetHeader>('DELETE FROM tb_intent WHERE id = ?', [id]);
        if (affectedRows === 0) {
          await ask(...insertIntent(order));
          return false;
        }
        const insert = `INSERT INTO tb_order (id, sku, quantity, amount, node, lock_name, sale_id, created_at, due_at, changed_at)
          SELECT ?, ?, ?, ?, ?, ?, ?, now, now + INTERVAL ? MICROSECOND, now FROM (SELECT UTC_TIMESTAMP(3) AS now) AS clock`;
        await ask(insert, [id, sku, quantity, quantity * UNIT_PRICE, node, lock, saleId, ORDER_TTL_MS * 1_000]);
        await keep?.(ask);
        return true;
      });
    },
    pay,
    refund,
    receive,
    find,
    ask: reach,
    /**
     *
     * A page of orders, oldest first. `next` is the `after` of the next page, null on the last page. Rejects with ProblemError
     * NOT_FOUND when there is no order `after`.
     *
     */
    async list({ status, limit, after }: ListQuery): Promise<{ orders: Order[]; next: string | null }> {
      const last = new Date(after === undefined ? 0 : (await find(after)).createdAt);
      const [ofStatus, statuses] = status === undefined ? ['', []] : ['status = ? AND', [status]];
      const sql = `SELECT ${columns} FROM tb_order
        WHERE ${ofStatus} (created_at > ? OR (created_at = ? AND id > ?)) ORDER BY created_at, id LIMIT ?`;
      // One more than asked for tells whether there is another page.
      const values = [...statuses, last, last, after, limit + 1];
      const rows = await withoutTransaction(mysql, (ask) => ask<RowDataPacket[]>(sql, values));
      const orders = rows.slice(0, limit).map(toOrder);
      return { orders, next: rows.length > limit ? (orders.at(-1)?.id ?? null) : null };
    },
    /**
     * Called before the stock is set to `units`, or deleted, which counts as 0. Units in orders are part of the supply.
     * Intents, and closed orders that are not restored, are of the last count, and settled by this one.
     */
    async supply(sku: string, stockIn: 'redis' | 'mysql', units: number) {
      const isThere = '(lock_name IN (?)) = ?';
      const there = [locksWithStockInMysql(), stockIn === 'mysql'];
      await inTransaction(mysql, async (ask) => {
        // Waits for the orders that are just being written in the place of their intents.
        await ask(`DELETE FROM tb_intent WHERE sku = ? AND ${isThere}`, [sku, ...there]);
        const settle = `UPDATE tb_order SET restored_at = UTC_TIMESTAMP(3)
          WHERE sku = ? AND status = 'CLOSED' AND restored_at IS NULL AND ${isThere}`;
        await ask(settle, [sku, ...there]);
        // The stock is as it must be again.
        await ask('DELETE FROM tb_dead_letter WHERE order_id IN (SELECT id FROM tb_order WHERE sku = ?)', [sku]);
        // After them: the first SELECT decides which orders all of this sees.
        const [taken] = await ask<RowDataPacket[]>(
          `SELECT COALESCE(SUM(quantity), 0) AS units FROM tb_order
            WHERE sku = ? AND status <> 'CLOSED' AND ${isThere}`,
          [sku, ...there],
        );
        const insert = `INSERT INTO tb_supply (sku, stock_in, units) VALUES (?, ?, ?)
          ON DUPLICATE KEY UPDATE units = VALUES(units)`;
        await ask(insert, [sku, stockIn, units + Number(taken?.units)]);
      });
    },
  };
}

async function moveMoney(ask: Ask, { id, amount }: Pick<Order, 'id' | 'amount'>, kind: 'PAYMENT' | 'REFUND') {
  const insert = `INSERT INTO tb_payment (id, order_id, kind, amount, created_at)
    VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))`;
  await ask(insert, [randomUUID(), id, kind, amount]);
}

async function findIn(ask: Ask, id: string): Promise<Order | undefined> {
  const [row] = await ask<RowDataPacket[]>(`SELECT ${columns} FROM tb_order WHERE id = ?`, [id]);
  return row && toOrder(row);
}

const noSuchOrder = (id: string) => new ProblemError('NOT_FOUND', `There is no order ${id}.`);

function refuseStep({ id, status }: Order, to: 'PAID' | 'REFUNDED') {
  const why = status === statusBefore[to] ? 'because another request changed it first' : "so it can't become";
  return new ProblemError('ORDER_STATE', `Order ${id} is ${status}, ${why} ${to}.`);
}

export async function setRestored(ask: Ask, orders: { id: string }[]) {
  const sql = 'UPDATE tb_order SET restored_at = UTC_TIMESTAMP(3) WHERE id IN (?) AND restored_at IS NULL';
  if (orders.length > 0) await ask(sql, [orders.map(({ id }) => id)]);
}

function insertIntent({ id, sku, quantity, node, lock, lifeMs }: NewOrder): [string, unknown[]] {
  const sql = `INSERT INTO tb_intent (id, sku, quantity, node, lock_name, created_at, alive_until)
    SELECT ?, ?, ?, ?, ?, now, now + INTERVAL ? MICROSECOND FROM (SELECT UTC_TIMESTAMP(3) AS now) AS clock`;
  return [sql, [id, sku, quantity, node, lock, lifeMs * 1_000]];
}

export const locksWithStockInMysql = () => Object.keys(strategies).filter((name) => stockOf(name) === 'mysql');

const toOrder = (row: RowDataPacket) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as Order;
