// Reads the stock: how many sales are certainly lost, and which sales read the same stock, so that all but one of them are lost.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { type Reader, type Sight, seen } from '../narration/evidence.ts';
import { sum } from '../narration/numbers.ts';
import { keyOf, type SaleName, type StepHistory } from './history.ts';
import { NotStagedError } from './not-staged.ts';

/**
 * What the stock says after a drill that goes step by step: `sold` counts the sales that were answered so, `inDoubt` those whose
 * answer is missing or does not say. `lostUpdates` is what is lost whatever became of those in doubt: units that were sold and are
 * still in stock, or writes that Redis confirmed and another sale overwrote, the larger of the two. Throws NotStagedError when units
 * are missing that no sale explains: numbers that do not add up are no verdict.
 *
 * `wroteLate` names sales whose write reached Redis although their node had given up on it. `overwrites`: of sales that read the same
 * stock and wrote, one has overwritten the other.
 */
export function readStock(
  { ends, initialStock, finalStock, events, startedAt }: StepHistory,
  { wroteLate = [], overwrites = true }: { wroteLate?: SaleName[]; overwrites?: boolean } = {},
) {
  const sold = ends.filter(({ outcome }) => outcome === 'sold').length;
  const inDoubt = ends.filter(({ outcome }) => ['inDoubt', 'cutOff', 'nonsense'].includes(outcome)).length;
  const expectedStock = initialStock - sold;
  if (finalStock < expectedStock - inDoubt) {
    throw new NotStagedError(`The stock is ${finalStock}, lower than the ${expectedStock} that the sales explain.`);
  }
  const groups = overwrites ? findLostUpdates(readersOf(events, startedAt, wroteLate)) : [];
  const undone = sum(groups.map(({ sales }) => sales.length - 1));
  return {
    sold,
    inDoubt,
    finalStock,
    expectedStock,
    lostUpdates: Math.max(0, finalStock - expectedStock, undone),
    evidence: groups.map(lostUpdateSeen),
  };
}

/** Which sale read which stock and wrote it, as the nodes recorded it. If a sale tried again, its last read counts. */
function readersOf(events: SaleEvent[], startedAt: number, wroteLate: SaleName[]) {
  const writers = new Set([...events.filter(({ type }) => type === 'wrote'), ...wroteLate].map(keyOf));
  const readings = new Map<string, Parameters<typeof findLostUpdates>[0][number]>();
  for (const event of events) {
    const { type, stock, bucket, node, saleId, at } = event;
    if (type !== 'read' || stock === undefined || !writers.has(keyOf(event))) continue;
    readings.set(keyOf(event), { stockBefore: stock, bucket, saleId, node, readMs: at - startedAt });
  }
  return [...readings.values()];
}

/** Sales that read the same stock: all but one of them are lost. */
export interface LostUpdate {
  stockBefore: number;
  /** Of which bucket, where the stock lies in several. */
  bucket?: number | undefined;
  /** Who read it, and when: milliseconds since the drill began, if it is known. */
  sales: Reader[];
}

/** Groups of sales that read the same stock of one bucket, those on most nodes first, then the largest. Each group is evidence of a lost update. */
export function findLostUpdates(readers: (Reader & Pick<LostUpdate, 'stockBefore' | 'bucket'>)[]): LostUpdate[] {
  const groups = new Map<string, LostUpdate>();
  for (const { stockBefore, bucket, saleId, node, readMs } of readers) {
    const name = `${stockBefore} ${bucket}`;
    const group = groups.get(name) ?? { stockBefore, bucket, sales: [] };
    group.sales.push({ saleId, node, readMs });
    groups.set(name, group);
  }
  return [...groups.values()]
    .filter(({ sales }) => sales.length > 1)
    .sort((a, b) => nodesOf(b) - nodesOf(a) || b.sales.length - a.sales.length || b.stockBefore - a.stockBefore);
}

/** The sales of a rush with the moment at which their node read the stock. */
export function withReadTimes<Sale extends SaleName>(sales: Sale[], events: SaleEvent[]): (Sale & Reader)[] {
  const startedAt = events[0]?.at ?? 0;
  const readMs = new Map(
    events.flatMap((event) => (event.type === 'read' ? [[keyOf(event), event.at - startedAt]] : [])),
  );
  return sales.map((sale) => ({ ...sale, readMs: readMs.get(keyOf(sale)) }));
}

/** That they read the same stock. Two nodes are named where there are two. */
export function lostUpdateSeen({ stockBefore: stock, bucket, sales }: LostUpdate): Sight {
  const elsewhere = sales.find(({ node }) => node !== sales[0]?.node);
  const ordered = elsewhere ? [sales[0], elsewhere, ...sales.slice(1).filter((sale) => sale !== elsewhere)] : sales;
  const [first, second, ...others] = ordered.map((sale) => ({ ...sale }) as Reader);
  const readers = [first, second] as [Reader, Reader];
  if (others.length === 0) return seen('two read the same stock', { stock, bucket, readers });
  return seen('many read the same stock', { stock, bucket, readers, others: others.length });
}

function nodesOf({ sales }: LostUpdate): number {
  return new Set(sales.map(({ node }) => node)).size;
}
