import type { Lock } from '../../../../locks/lock.ts';
import type { Ask } from '../../servers/transaction.ts';

/**
 * The words used in every guard:
 *
 * - tick: one run of the job on one node. Every node has its own schedule, so the same tick comes once on each.
 * - guard: what keeps two ticks from doing the same work.
 * - due: UNPAID for longer than ORDER_TTL_MS, by the clock of MySQL.
 * - restored: the units of the order are back in stock.
 */

/** How many orders one tick reads at most. The next tick takes those behind them. */
export const MAX_ORDERS = 1_000;

export interface DueOrder {
  id: string;
  sku: string;
  quantity: number;
  /** The lock of its sale: it says which stock the units were taken from. */
  lock: string;
}

/**
 * What a tick works with. Each call rejects when a server does not answer, or when the node stops. When an order fails for a
 * reason of its own, its sku is left out of this tick from then on, and the tick ends as failed.
 */
export interface Job {
  /** Resolves with the orders that are due now, the longest due first, a thousand at most. */
  readDue(): Promise<DueOrder[]>;
  restore(order: DueOrder): Promise<void>;
  /** Sets an order CLOSED, whatever it was, and writes down that its units are back. */
  close(order: DueOrder): Promise<void>;
  /** Has `work` done in one transaction, and counts what it has done to the order. */
  closeIn(order: DueOrder, work: (ask: Ask) => Promise<'nothing' | 'closed' | 'restored'>): Promise<void>;
  /**
   * Puts the units of closed orders back into the stock in Redis, each unless that was done
   * before, and writes it down. Those of one sku share the lock of the sales, a hundred at a time.
   */
  restoreClosed(): Promise<void>;
  /** Makes a lock for this tick: the one that JOB_LOCK names, or that of stage 8 for `close-first`. */
  openLock(): Lock;
  /** Resolves JOB_MIN_HOLD_MS after the call, or when the node stops. */
  minHold(): Promise<void>;
}

/** Carries a tick out. Resolves with `skipped` when another tick is under way, and nothing was done. */
export type CleanUp = (job: Job) => Promise<'ran' | 'skipped'>;
