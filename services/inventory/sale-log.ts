import type { Logger } from 'pino';
import { ProblemError } from './problem.ts';
import type { Sold } from './sale-service.ts';

/** What one line of the log says of a sale. `ms`: how long it took, with its wait for the lock. */
export type SaleLine =
  | ({ msg: 'sale'; ms: number } & Pick<Sold, 'outcome' | 'sku' | 'stockBefore' | 'remaining' | 'lock' | 'port'>)
  | { msg: 'sale'; ms: number; outcome: string; sku: string; port: number };

/** Sells, and writes a line for it at debug, so that the lines of two nodes can be watched side by side. Rejects as the sale does. */
export async function logSale(
  log: Logger,
  { sku, port }: Pick<Sold, 'sku' | 'port'>,
  sell: () => Promise<Sold>,
): Promise<Sold> {
  const startedAt = performance.now();
  const write = (line: object) => log.debug({ ...line, ms: Math.round(performance.now() - startedAt) }, 'sale');
  try {
    const sold = await sell();
    const { outcome, stockBefore, remaining, lock } = sold;
    write({ outcome, sku, stockBefore, remaining, lock, port });
    return sold;
  } catch (error) {
    write({ outcome: error instanceof ProblemError ? error.code : 'failed', sku, port });
    throw error;
  }
}
