// What the stock says: how many sales are lost for sure.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { sum } from '../narration/numbers.ts';
import { keyOf, type SaleName, type StepHistory } from './history.ts';
import { describeLostUpdate, findLostUpdates } from './lost-updates.ts';
import { NotStagedError } from './not-staged.ts';

/**
 * What the stock says after a drill that goes step by step: `sold` counts the sales that were answered so, `inDoubt` those whose
 * answer is missing or does not say. `lostUpdates` is what is lost whatever became of those in doubt: units that were sold and are
 * still in stock, or writes that Redis confirmed and another sale undid, the larger of the two. Throws NotStagedError when units
 * are missing that no sale explains: numbers that do not add up are no verdict.
 *
 * `wroteLate` names sales whose write reached Redis although their node had given up on it.
 */
export function readStock(
  { ends, initialStock, finalStock, events, startedAt }: StepHistory,
  wroteLate: SaleName[] = [],
) {
  const sold = ends.filter(({ outcome }) => outcome === 'sold').length;
  const inDoubt = ends.filter(({ outcome }) => ['inDoubt', 'cutOff', 'nonsense'].includes(outcome)).length;
  const expectedStock = initialStock - sold;
  if (finalStock < expectedStock - inDoubt) {
    throw new NotStagedError(`The stock is ${finalStock}, lower than the ${expectedStock} that the sales explain.`);
  }
  const groups = findLostUpdates(readersOf(events, startedAt, wroteLate));
  const undone = sum(groups.map(({ sales }) => sales.length - 1));
  return {
    sold,
    inDoubt,
    finalStock,
    expectedStock,
    lostUpdates: Math.max(0, finalStock - expectedStock, undone),
    evidence: groups.map(describeLostUpdate),
  };
}

/** Who read which stock and went on to write, as the nodes recorded it. Of a sale that began again the last reading counts. */
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
