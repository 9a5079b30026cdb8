import type { Pool, RowDataPacket } from 'mysql2/promise';
import { stockOf } from '../../../locks/index.ts';
import { stockInMysql } from '../mysql.ts';
import type { Stock } from '../store.ts';
import { inTransaction } from './transaction.ts';

/** What the two stores say of the units of one sku, and of one place that its stock is kept in. */
export interface Holdings {
  sku: string;
  stockIn: 'redis' | 'mysql';
  /** How many units there must be. Undefined when nobody has written it down. */
  supply: number | undefined;
  inStock: number;
  unpaid: number;
  paid: number;
  refunded: number;
  /** Units of closed orders that are back in stock. */
  restored: number;
  /** Units of closed orders that nobody has written down as back in stock: each is there, or it is not. */
  unrestored: number;
  /** Units of sales that ended before their order was written: each was taken, or it was not. */
  intended: number;
}

/** A sale that ended without an order, or has not ended yet. */
export interface Intent {
  id: string;
  sku: string;
  stockIn: 'redis' | 'mysql';
  quantity: number;
  node: string;
  lock: string;
  /** By the clock of MySQL, in milliseconds. */
  ageMs: number;
}

export interface Accounts {
  holdings: Holdings[];
  intents: Intent[];
  /** Closed orders whose units nobody has written down as back in stock. */
  unrestored: Pick<Intent, 'id' | 'sku' | 'stockIn'>[];
}

/**
 * Which units are neither in stock nor in an order. Intents and unrestored orders may explain them: each of their units is
 * missing or it is not. What they can't explain is `unexplained`: more than 0 when units are lost, less than 0 when units
 * were sold twice or put back twice. Undefined when the supply is not known.
 */
export function balance({ supply, inStock, unpaid, paid, refunded, unrestored, intended }: Holdings) {
  if (supply === undefined) return undefined;
  const missing = supply - inStock - unpaid - paid - refunded;
  const inDoubt = Math.min(Math.max(missing, 0), unrestored + intended);
  return { inDoubt, unexplained: missing - inDoubt };
}

/** Reads both stores, one after the other: what is sold in between is in one of them only. */
export async function readAccounts(mysql: Pool, stockInRedis: Stock): Promise<Accounts> {
  const found = new Map<string, Holdings>();
  const at = (sku: string, stockIn: Holdings['stockIn']): Holdings => {
    const key = `${sku} ${stockIn}`;
    const none = { inStock: 0, unpaid: 0, paid: 0, refunded: 0, restored: 0, unrestored: 0, intended: 0 };
    if (!found.has(key)) found.set(key, { sku, stockIn, supply: undefined, ...none });
    return found.get(key) as Holdings;
  };

  const { supplies, sums, intents, unrestored } = await inTransaction(mysql, async (ask) => ({
    // The first SELECT takes the snapshot that all of them read.
    supplies: await ask<RowDataPacket[]>('SELECT sku, stock_in, units FROM tb_supply ORDER BY sku, stock_in'),
    sums: await ask<RowDataPacket[]>(
      `SELECT sku, lock_name, status, restored_at IS NOT NULL AS is_restored, SUM(quantity) AS units
        FROM tb_order GROUP BY sku, lock_name, status, is_restored ORDER BY sku`,
    ),
    intents: await ask<RowDataPacket[]>(
      `SELECT id, sku, quantity, node, lock_name, TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(3)) DIV 1000 AS age
        FROM tb_intent ORDER BY created_at, id`,
    ),
    unrestored: await ask<RowDataPacket[]>(
      "SELECT id, sku, lock_name FROM tb_order WHERE status = 'CLOSED' AND restored_at IS NULL ORDER BY created_at, id",
    ),
  }));

  for (const { sku, stock_in, units } of supplies) at(sku, stock_in).supply = Number(units);
  for (const { sku, lock_name, status, is_restored, units } of sums) {
    at(sku, stockOf(lock_name))[columnOf(status, is_restored === 1)] += Number(units);
  }
  for (const { sku, lock_name, quantity } of intents) at(sku, stockOf(lock_name)).intended += quantity;
  const stocks = { redis: stockInRedis, mysql: stockInMysql(mysql) };
  for (const one of found.values()) one.inStock = (await stocks[one.stockIn].readStock(one.sku)) ?? 0;

  return {
    holdings: [...found.values()],
    intents: intents.map(({ id, sku, quantity, node, lock_name, age }) => ({
      id,
      sku,
      stockIn: stockOf(lock_name),
      quantity,
      node,
      lock: lock_name,
      ageMs: Number(age),
    })),
    unrestored: unrestored.map(({ id, sku, lock_name }) => ({ id, sku, stockIn: stockOf(lock_name) })),
  };
}

/** True when no unit has moved between the two readings. */
export function isSame(before: Accounts, after: Accounts): boolean {
  const still = ({ holdings, intents, unrestored }: Accounts) =>
    JSON.stringify({ holdings, intents: intents.map(({ id }) => id), unrestored });
  return still(before) === still(after);
}

/**
 * Puts the units in doubt that are missing back into the stock, and forgets their intents. Nobody may be selling. When it is
 * interrupted between the two, a second call finds nothing missing and finishes the work.
 */
export async function repair(mysql: Pool, stockInRedis: Stock, { holdings, intents, unrestored }: Accounts) {
  const stocks = { redis: stockInRedis, mysql: stockInMysql(mysql) };
  for (const one of holdings) {
    const missing = balance(one)?.inDoubt ?? 0;
    if (missing > 0 && !(await stocks[one.stockIn].addStock(one.sku, missing))) {
      await stocks[one.stockIn].writeStock(one.sku, missing);
    }
  }
  // What nobody can balance stays as it is.
  const settledIn = (list: Accounts['unrestored']) =>
    list
      .filter((left) =>
        holdings.some(
          ({ sku, stockIn, supply }) => sku === left.sku && stockIn === left.stockIn && supply !== undefined,
        ),
      )
      .map(({ id }) => id);
  const [settled, restored] = [settledIn(intents), settledIn(unrestored)];
  await inTransaction(mysql, async (ask) => {
    if (settled.length > 0) await ask('DELETE FROM tb_intent WHERE id IN (?)', [settled]);
    if (restored.length > 0) {
      await ask('UPDATE tb_order SET restored_at = UTC_TIMESTAMP(3) WHERE id IN (?)', [restored]);
    }
  });
}

function columnOf(status: string, isRestored: boolean) {
  if (status === 'CLOSED') return isRestored ? 'restored' : 'unrestored';
  return status === 'UNPAID' ? 'unpaid' : status === 'PAID' ? 'paid' : 'refunded';
}
