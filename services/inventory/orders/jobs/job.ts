import type { Lock } from '../../../../locks/lock.ts';
import type { Ask } from '../../servers/transaction.ts';

/**
 * The terms used in every protection against duplicate runs (a guard):
 *
 * - tick: one run of the job on one node. Every node has its own schedule, so the same tick comes once on each.
 * - guard: what keeps two ticks from doing the same work.
 * - due: UNPAID for longer than ORDER_TTL_MS, by the clock of MySQL.
 * - restored: the units of the order are back in stock.
 */

/** The most orders that one run reads. The next run takes the rest. */
export const MAX_ORDERS = 1_000;

export interface DueOrder {
  id: string;
  sku: string;
  quantity: number;
  /** The lock of its sale, which determines the stock that the units came from. */
  lock: string;
}

/**
 * What a run works with. Each call rejects if a server does not reply, or if the node stops. If an order fails for a
 * reason of its own, its sku is left out of this tick from then on, and the tick ends as failed.
 */
export interface Job {
  /** Resolves with the orders that are due now, longest due first, at most a thousand. */
  readDue(): Promise<DueOrder[]>;
  restore(order: DueOrder): Promise<void>;
  /** Sets an order to CLOSED, whatever its status, and records that its units are back. */
  close(order: DueOrder): Promise<void>;
  /** Runs `work` in one transaction, and counts what it did to the order. */
  closeIn(order: DueOrder, work: (ask: Ask) => Promise<'nothing' | 'closed' | 'restored'>): Promise<void>;
  /**
   *
   * Returns the units of closed orders to the stock in Redis, each only once, and records it. Those of one sku share the lock
   * of the sales, a hundred at a time.
   *
   */
  restoreClosed(): Promise<void>;
  /** Creates a lock for this run: the lock that JOB_LOCK names, or stage 8 for `close-first`. */
  openLock(): Lock;
  /** Resolves JOB_MIN_HOLD_MS after the call, or when the node stops. */
  minHold(): Promise<void>;
}

/** Carries out a run. Resolves with `skipped` if another run is in progress and nothing was done. */
export type CleanUp = (job: Job) => Promise<'ran' | 'skipped'>;
