import type { Scene } from './scene.ts';

const SALES = 3;

/**
 * Sells on the second node while a fault hits the first, for 2.5 leases: long enough for any lease to end. Resolves with how
 * many units were sold; `keptOutMs` says how long nobody got in, if nobody did.
 */
export async function sellMeanwhile({ second, leaseMs, sellWithin, waitFor }: Scene) {
  // Long enough to be seen in a picture.
  await second.script({ pauseMs: Math.round(leaseMs / 10), times: SALES });
  const startedAt = performance.now();
  const limitMs = 2.5 * leaseMs;
  const leftMs = () => limitMs - (performance.now() - startedAt);
  let soldMeanwhile = 0;
  while (soldMeanwhile < SALES && leftMs() > 0) {
    if ((await sellWithin(second, leftMs())).outcome === 'sold') soldMeanwhile += 1;
  }
  await waitFor(async () => leftMs() < 0 || undefined, limitMs);
  return { soldMeanwhile, ...(soldMeanwhile === 0 && { keptOutMs: performance.now() - startedAt }) };
}
