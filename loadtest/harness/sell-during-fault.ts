// Sales on the second node while a fault hits the first, and what they prove.

import type { StepHistory } from '../evidence/history.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock } from './clock.ts';
import { sellMeanwhile } from './sell-meanwhile.ts';
import type { Judgement } from './step-drill.ts';
import type { TestBed } from './test-bed.ts';

interface Meanwhile {
  soldMeanwhile: number;
  /** How long nobody got in, if nobody did. */
  keptOutMs?: number;
}

/**
 * Sells on the second node while a fault hits the first, for 2.5 leases: long enough for any lease to end. Resolves with how
 * many units were sold.
 */
export async function sellDuringFault(testBed: TestBed): Promise<Meanwhile> {
  const { second, leaseMs } = testBed;
  const startedAt = sharedClock();
  const limitMs = 2.5 * leaseMs;
  // Each sale is long enough to be seen in a picture.
  const soldMeanwhile = await sellMeanwhile(testBed, { saleMs: Math.round(leaseMs / 10), limitMs });
  await testBed.waitFor(async () => sharedClock() > startedAt + limitMs || undefined, limitMs);
  if (soldMeanwhile > 0) return { soldMeanwhile };
  await testBed.mustHaveWaited(second, startedAt);
  return { soldMeanwhile, keptOutMs: sharedClock() - startedAt };
}

/** The verdict when a write of the first node has come late, with its node or without: was a sale made meanwhile undone? */
export function judgeDuringFault(
  outcome: StepHistory,
  meanwhile: Meanwhile,
  wroteLate?: { node: string; saleId: string }[],
): Judgement {
  const { lostUpdates, witnesses, finalStock, expectedStock } = readStock(outcome, wroteLate);
  const figures = { lostUpdates, ...meanwhile, finalStock, expectedStock };
  if (lostUpdates > 0) {
    const reason = `The stock is ${finalStock} instead of ${expectedStock} at most: the late write undid sales.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  const reason =
    meanwhile.soldMeanwhile > 0
      ? 'The late write undid no sale.'
      : 'Nobody could sell until the late write had come; the price is that everybody waited.';
  return { verdict: 'pass', reason, figures, witnesses };
}
