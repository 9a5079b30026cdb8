// Turns a line of a node's log into a readable line.

import type { TickResult } from '../services/inventory/orders/contract.ts';
import type { SaleLine } from '../services/inventory/sale/sale-record.ts';

/**
 * The line of a sale or of a clean-up, as people read it: `:7777 sold 001, stock 5000 → 4999
 * (8-auto-renew, 3 ms)`. A node writes a line for each at LOG_LEVEL=debug. Undefined for any other
 * line, which may be anything: a lock prints what it likes, and a node that is killed may leave its
 * last line cut off.
 */
export function plainLine(line: string): string | undefined {
  const entry = entryOf(line);
  if (entry?.msg === 'sale') return saleLine(entry);
  if (entry?.msg === 'clean-up') return cleanUpLine(entry);
  return undefined;
}

type Entry = SaleLine | (TickResult & { msg: 'clean-up' });

function entryOf(line: string): Entry | undefined {
  // As the logger of a node begins its lines.
  if (!/^\{"level":.*"msg":"(sale|clean-up)"/.test(line)) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function saleLine(sale: SaleLine): string {
  const { port, sku, outcome, stockBefore, remaining, lock, ms } = sale;
  const stock = remaining === undefined ? '' : `, stock ${stockBefore} → ${remaining}`;
  return `:${port} ${outcome} ${sku}${stock} (${lock}, ${ms} ms)`;
}

function cleanUpLine({ outcome, guard, due, closed, restored, ms, detail }: TickResult): string {
  const found = outcome === 'ran' ? `, due ${due}, closed ${closed}, units back ${restored}` : '';
  return `clean-up ${outcome}${found} (${guard}, ${ms} ms)${detail ? ` ${detail}` : ''}`;
}
