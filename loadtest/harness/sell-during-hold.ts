// Sales on the second node while a holder on the first is inside, and what they prove.

import type { StepHistory } from '../evidence/history.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock } from './clock.ts';
import { sellMeanwhile } from './sell-meanwhile.ts';
import type { Judgement } from './step-drill.ts';
import type { TestBed } from './test-bed.ts';
import type { InsideSale } from './watched-sales.ts';

/** How long each of the sales takes, in milliseconds. */
const SALE_MS = 100;

/**
 * Sells on the second node while `holder` is inside, for `limitMs` at most. Resolves with how many units were sold. Throws
 * NotStagedError when the holder has left, or when nothing was sold and nobody has waited for the lock.
 */
export async function sellDuringHold(testBed: TestBed, holder: InsideSale, limitMs: number): Promise<number> {
  const { second } = testBed;
  const startedAt = sharedClock();
  const soldMeanwhile = await sellMeanwhile(testBed, { saleMs: SALE_MS, limitMs });
  await testBed.say(`${second.name} has sold ${soldMeanwhile} units meanwhile.`);
  await testBed.mustBeInside(holder);
  if (soldMeanwhile === 0) await testBed.mustHaveWaited(second, startedAt);
  return soldMeanwhile;
}

/** The verdict on a holder that must be alone: `failure` says how others got in. */
export function judgeDuringHold(outcome: StepHistory, soldMeanwhile: number, failure: string): Judgement {
  const { overlaps, witnesses } = overlapsOf(outcome);
  const { lostUpdates, finalStock, expectedStock, ...stock } = readStock(outcome);
  const figures = { overlaps, lostUpdates, soldMeanwhile, finalStock, expectedStock };
  if (overlaps > 0 || lostUpdates > 0) {
    const inStock = lostUpdates > 0 ? ` The stock is ${finalStock} instead of ${expectedStock} at most.` : '';
    return { verdict: 'fail', reason: failure + inStock, figures, witnesses: [...stock.witnesses, ...witnesses] };
  }
  return { verdict: 'pass', reason: 'Nobody else was inside, and no sale was lost.', figures, witnesses: [] };
}
