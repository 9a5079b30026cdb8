// Sales on the second node while the first one is busy.

import { sharedClock, sleep } from './clock.ts';
import type { TestBed } from './test-bed.ts';

const SALES = 3;
/** A buyer who is refused comes again after so long, in milliseconds: a node that refuses at once would be asked thousands of times. */
export const AGAIN_MS = 20;

/**
 * Sells a few units on the second node, one after the other, for `limitMs` at most in all. Each sale stays inside for `saleMs`.
 * Resolves with how many were sold.
 */
export async function sellMeanwhile(
  { second, sellWithin }: Pick<TestBed, 'second' | 'sellWithin'>,
  { saleMs, limitMs }: { saleMs: number; limitMs: number },
): Promise<number> {
  await second.script({ pauseMs: saleMs, times: SALES });
  const until = sharedClock() + limitMs;
  let sold = 0;
  for (let leftMs = limitMs; sold < SALES && leftMs > 0; leftMs = until - sharedClock()) {
    if ((await sellWithin(second, leftMs)).outcome === 'sold') sold += 1;
    else await sleep(AGAIN_MS);
  }
  return sold;
}
