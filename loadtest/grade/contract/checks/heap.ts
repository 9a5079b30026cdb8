// What stays in memory of each acquisition.

import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS } from '../bed.ts';
import { fails, holds } from '../outcome.ts';

const FIRST = 1_500;
const TIMES = 1_000;
/** What Node itself keeps comes and goes, some hundred kilobytes at a time: so many rounds say what comes in every one. */
const FEWEST_ROUNDS = 4;
const MOST_ROUNDS = 9;
/** No lock that keeps nothing needs more, in bytes an acquisition; an owner token alone takes more. */
const MOST_BYTES = 80;

export async function heap(bed: Bed) {
  const trial = bed.trial();
  const node = await bed.startNode();
  const client = await trial.client(node, 'directly');
  const repeat = (times: number) => client.repeat({ key: trial.key, leaseMs: LONG_LEASE_MS, times });
  await repeat(FIRST);
  const heapBytes = [(await node.resources()).heapBytes];
  let bytesKept = Number.POSITIVE_INFINITY;
  while (bytesKept > MOST_BYTES && heapBytes.length <= MOST_ROUNDS) {
    await repeat(TIMES);
    heapBytes.push((await node.resources()).heapBytes);
    if (heapBytes.length > FEWEST_ROUNDS) bytesKept = Math.max(0, Math.round(medianGrowth(heapBytes) / TIMES));
  }
  const acquisitions = countOf((heapBytes.length - 1) * TIMES, 'acquisition');
  const said = `${acquisitions}: ${countOf(bytesKept, 'byte')} of memory stay of each`;
  return bytesKept > MOST_BYTES ? fails(`${said}.`, [], { bytesKept }) : holds(`${said}.`, { bytesKept });
}

/** How much a value grows from one place to the next: the median over all pairs of places, which no single jump moves (Theil and Sen). */
function medianGrowth(values: number[]): number {
  const slopes = values.flatMap((value, at) =>
    values.slice(at + 1).map((later, ahead) => (later - value) / (ahead + 1)),
  );
  return slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)] ?? 0;
}
