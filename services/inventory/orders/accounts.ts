// Accounts for every unit, from the stock, the orders and the intents, and repairs what a crash left inconsistent.

import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { stockOf } from '../../../locks/index.ts';
import { restockIt, stockInMysql } from '../servers/mysql.ts';
import { RESTORABLE_MS, type Store } from '../servers/store.ts';
import { type Ask, inTransaction } from '../servers/transaction.ts';
import { LONGEST_WAIT_TIMEOUT_MS, MOST_BUCKETS, saleLifeMs } from '../settings/limits.ts';
import { setRestored } from './order-store.ts';

/** The time limit of a transaction, in milliseconds: long, so that a repair is not abandoned halfway. */
const LIMIT_MS = 60_000;

/** The accounts can't be read at this moment; nothing is wrong with the shop. */
export class NotNow extends Error {}

/** The units of one sku, in one of the stores that hold its stock. */
export interface Holdings {
  sku: string;
  stockIn: 'redis' | 'mysql';
  /** How many units there must be. Undefined if it was never recorded. */
  supply: number | undefined;
  inStock: number;
  unpaid: number;
  paid: number;
  refunded: number;
  /** Units of closed orders that have been returned to stock. */
  restored: number;
  /** Units of closed orders that have not been returned yet: the next cleanup run returns them. */
  owed: number;
  /** Units of closed orders for which there is no record whether they were returned. */
  unrestored: number;
  /** Units of sales that ended before they wrote their order: each may have been taken or not. */
  intended: number;
}

/** A sale that ended without an order, or is still running. */
export interface Intent {
  id: string;
  sku: string;
  stockIn: 'redis' | 'mysql';
  quantity: number;
  node: string;
  lock: string;
  /** By MySQL's clock, in milliseconds. */
  ageMs: number;
  /** How long its sale may still be running and return its unit, in milliseconds; 0 or less if it has certainly ended. */
  aliveMs: number;
}

/** A closed order whose units are not recorded as returned in MySQL. */
export interface Unrestored extends Pick<Intent, 'id' | 'sku' | 'stockIn' | 'quantity'> {
  /** What the mark in Redis says. Undefined if the mark may have expired, or the stock does not exist. */
  isRestored: boolean | undefined;
}

export interface Accounts {
  holdings: Holdings[];
  intents: Intent[];
  unrestored: Unrestored[];
}

/**
 * The units that are neither in stock nor in an order. Those that are owed are certainly missing. Intents and unrestored orders
 * may explain others: each of their units is missing or it is not. What they can't explain is `unexplained`: more than 0 when
 * units are lost, less than 0 when units were sold twice or put back twice. Undefined when the supply is not known.
 */
export function balance({ supply, inStock, unpaid, paid, refunded, owed, unrestored, intended }: Holdings) {
  if (supply === undefined) return undefined;
  const missing = supply - inStock - unpaid - paid - refunded - owed;
  const guessed = Math.min(Math.max(missing, 0), unrestored + intended);
  return { inDoubt: owed + guessed, unexplained: missing - guessed };
}

/** Reads both stores one after the other: a sale in between shows in one of them only. */
export async function readAccounts(mysql: Pool, stockInRedis: Store): Promise<Accounts> {
  const found = new Map<string, Holdings>();
  const at = (sku: string, stockIn: Holdings['stockIn']): Holdings => {
    const key = `${sku} ${stockIn}`;
    const none = { inStock: 0, unpaid: 0, paid: 0, refunded: 0, restored: 0, owed: 0, unrestored: 0, intended: 0 };
    if (!found.has(key)) found.set(key, { sku, stockIn, supply: undefined, ...none });
    return found.get(key) as Holdings;
  };

  const read = async (ask: Ask) => ({
    // The first SELECT takes the snapshot that all of them read.
    supplies: await ask<RowDataPacket[]>('SELECT sku, stock_in, units FROM tb_supply ORDER BY sku, stock_in'),
    sums: await ask<RowDataPacket[]>(
      `SELECT sku, lock_name AS \`lock\`, IF(status = 'CLOSED', 'restored', LOWER(status)) AS state, SUM(quantity) AS units
        FROM tb_order WHERE status <> 'CLOSED' OR restored_at IS NOT NULL GROUP BY sku, lock_name, status ORDER BY sku`,
    ),
    intents: await ask<RowDataPacket[]>(
      `SELECT id, sku, quantity, node, lock_name AS \`lock\`,
        TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(3)) DIV 1000 AS ageMs,
        TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), COALESCE(alive_until, created_at + INTERVAL ? MICROSECOND)) DIV 1000 AS aliveMs
        FROM tb_intent ORDER BY created_at, id`,
      [saleLifeMs(LONGEST_WAIT_TIMEOUT_MS) * 1_000],
    ),
    closed: await ask<RowDataPacket[]>(
      `SELECT id, sku, lock_name AS \`lock\`, quantity, changed_at > UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND AS is_marked
        FROM tb_order WHERE status = 'CLOSED' AND restored_at IS NULL ORDER BY created_at, id`,
      [RESTORABLE_MS * 1_000],
    ),
  });
  const { supplies, sums, intents, closed } = await inTransaction(mysql, read, LIMIT_MS);

  for (const { sku, stock_in, units } of supplies) at(sku, stock_in).supply = Number(units);
  for (const { sku, lock, state, units } of sums)
    at(sku, stockOf(lock))[state as 'unpaid' | 'paid' | 'refunded' | 'restored'] += Number(units);
  for (const { sku, lock, quantity } of intents) at(sku, stockOf(lock)).intended += quantity;
  const unrestored = await Promise.all(
    closed.map(async ({ id, sku, lock, quantity, is_marked }): Promise<Unrestored> => {
      const stockIn = stockOf(lock);
      const isKnown = stockIn === 'redis' && is_marked === 1;
      const isRestored = isKnown ? await stockInRedis.isRestored(sku, id) : undefined;
      return { id, sku, stockIn, quantity, isRestored };
    }),
  );
  for (const { sku, stockIn, quantity, isRestored } of unrestored) {
    const column = isRestored === undefined ? 'unrestored' : isRestored ? 'restored' : 'owed';
    at(sku, stockIn)[column] += quantity;
  }
  // Whatever the nodes look into, and however many buckets they had before.
  const stocks = { redis: stockInRedis.inBuckets(MOST_BUCKETS), mysql: stockInMysql(mysql) };
  for (const one of found.values()) one.inStock = (await stocks[one.stockIn].readStock(one.sku)) ?? 0;

  return {
    holdings: [...found.values()],
    intents: intents.map((row) => ({
      ...(row as Intent),
      stockIn: stockOf(row.lock),
      ageMs: Number(row.ageMs),
      aliveMs: Number(row.aliveMs),
    })),
    unrestored,
  };
}

/** True if no unit has moved between the two readings. */
export function isSame(before: Accounts, after: Accounts): boolean {
  const still = ({ holdings, intents, unrestored }: Accounts) =>
    JSON.stringify({ holdings, intents: intents.map(({ id }) => id), unrestored });
  return still(before) === still(after);
}

/**
 * Returns the missing units in doubt to the stock, and deletes their intents. Nobody may be selling. Resolves with how many
 * units that were, and how many intents. When it is interrupted, a second call finds what is still missing and finishes the
 * work.
 */
export async function repair(mysql: Pool, stockInRedis: Store, { holdings, intents, unrestored }: Accounts) {
  let units = 0;
  for (const { id, sku, quantity, isRestored } of unrestored) {
    // By its mark, as a tick does it: one that came in between, or comes later, does not put them there again.
    if (isRestored === false && (await stockInRedis.restoreOnce(sku, quantity, id))) units += quantity;
  }
  const missing = holdings.map((one) => ({ ...one, units: (balance(one)?.inDoubt ?? one.owed) - one.owed }));
  const missingIn = (place: Holdings['stockIn']) => missing.filter((one) => one.stockIn === place && one.units > 0);
  // What nobody can balance stays as it is.
  const isBalanced = (left: Pick<Intent, 'sku' | 'stockIn'>) =>
    holdings.some(({ sku, stockIn, supply }) => sku === left.sku && stockIn === left.stockIn && supply !== undefined);
  const settled = intents.filter(isBalanced).map(({ id }) => id);
  const restored = unrestored.filter((one) => one.isRestored !== undefined || isBalanced(one));
  const settle = async (ask: Ask) => {
    // Before a unit is put back: a sale that is late finds no intent, and writes no order for it.
    if (settled.length > 0) {
      const { affectedRows } = await ask<ResultSetHeader>('DELETE FROM tb_intent WHERE id IN (?)', [settled]);
      if (affectedRows < settled.length)
        throw new NotNow('Sales are in flight: one of them has just settled its intent. Try again.');
    }
    await setRestored(ask, restored);
    for (const { sku, units } of missingIn('mysql')) await ask(restockIt, [sku, units]);
    // Last, since nothing undoes it: a COMMIT that fails leaves intents that explain nothing.
    for (const { sku, units } of missingIn('redis')) await stockInRedis.inBuckets(1).restock(sku, units);
  };
  await inTransaction(mysql, settle, LIMIT_MS);
  units += missing.reduce((sum, one) => sum + one.units, 0);
  return { units, intents: settled.length };
}
