// How long the overlaps of many holds take: node --import tsx test/loadtest/evidence/overlaps-bench.ts
//
// Looking at every two holds is what a sweep over the times spares. Both must find the same. Pair by pair, the longest queue
// would take half a minute, so only the sweep is timed with it.

import type { Hold } from '../../../loadtest/evidence/history.ts';
import { countOverlaps, type Overlap, overlapsBetween } from '../../../loadtest/evidence/overlaps.ts';

const LENGTHS = [1_000, 10_000, 100_000];
const MOST_PAIR_BY_PAIR = 10_000;

/** Holds one after the other, each of which meets the next one. */
const chainOf = (length: number) =>
  Array.from(
    { length },
    (_, index): Hold => ({ node: 'node-1', saleId: String(index), entered: index, left: index + 1.5 }),
  );

function pairByPair(holds: Hold[]): Overlap[] {
  const byEntering = holds.filter(({ entered, left }) => left > entered).sort((a, b) => a.entered - b.entered);
  return byEntering.flatMap((second, index) =>
    byEntering
      .slice(0, index)
      .filter((first) => first.left > second.entered)
      .map((first) => ({ first, second, from: second.entered, until: Math.min(first.left, second.left) })),
  );
}

function time<T>(act: () => T): { ms: number; result: T } {
  const startedAt = performance.now();
  const result = act();
  return { ms: performance.now() - startedAt, result };
}

for (const length of LENGTHS) {
  const holds = chainOf(length);
  const sweep = time(() => overlapsBetween(holds));
  const counted = time(() => countOverlaps(holds));
  const pairs = length > MOST_PAIR_BY_PAIR ? undefined : time(() => pairByPair(holds));
  if (counted.result !== sweep.result.length)
    throw new Error(`${counted.result} are counted, ${sweep.result.length} found.`);
  if (pairs && pairs.result.length !== sweep.result.length)
    throw new Error(`Pair by pair there are ${pairs.result.length}.`);
  const figures = [
    `${length} holds, ${sweep.result.length} overlaps: sweep ${sweep.ms.toFixed(1)} ms`,
    `counted alone ${counted.ms.toFixed(1)} ms`,
    ...(pairs
      ? [`pair by pair ${pairs.ms.toFixed(1)} ms, ${Math.round(pairs.ms / sweep.ms)} times as long as the sweep`]
      : []),
  ];
  console.log(figures.join(', '));
}
