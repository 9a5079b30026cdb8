import type { Logger } from 'pino';
import type { BasketItem } from './basket.ts';
import { ProblemError } from './problem.ts';
import type { Sold } from './sale-service.ts';

/** What one line of the log says of a sale. `ms`: how long it took, with its wait for the lock. */
export interface SaleLine
  extends Pick<Sold, 'sku' | 'lock' | 'port'>,
    Partial<Pick<Sold, 'stockBefore' | 'remaining'>> {
  msg: 'sale';
  requestId: string;
  /** `sold`, the code of a problem, or `failed`. */
  outcome: string;
  ms: number;
}

export interface SaleLogParts {
  log: Logger;
  port: number;
  /** The lock of the sales to come. */
  lock: () => string;
}

/** Writes a line at debug for each sale, and for each sku of a basket, so that the lines of two nodes can be watched side by side. */
export function createSaleLog({ log, port, lock }: SaleLogParts) {
  /** Sells. `itemsOf` has what was sold. Rejects as the sale does. */
  return async function logSale<T>(
    requestId: string,
    skus: string[],
    sell: () => Promise<T>,
    itemsOf: (sold: T) => BasketItem[],
  ): Promise<T> {
    const startedAt = performance.now();
    const used = lock();
    function write(item: Pick<BasketItem, 'sku'> & Partial<BasketItem>, outcome: string) {
      const { sku, stockBefore, remaining } = item;
      const ms = Math.round(performance.now() - startedAt);
      log.debug({ requestId, outcome, sku, stockBefore, remaining, lock: used, port, ms }, 'sale');
    }
    try {
      const sold = await sell();
      for (const item of itemsOf(sold)) write(item, 'sold');
      return sold;
    } catch (error) {
      for (const sku of skus) write({ sku }, error instanceof ProblemError ? error.code : 'failed');
      throw error;
    }
  };
}
