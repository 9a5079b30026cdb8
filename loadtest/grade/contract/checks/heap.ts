// What stays in memory of each acquisition.

import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS } from '../bed.ts';
import { fails, holds } from '../outcome.ts';

/** Until Node has compiled what it will. Then 3,000 in two rounds. */
const FIRST = 500;
const TIMES = 1_500;
const ROUNDS = 2;
/** As much as no lock needs that keeps nothing, in bytes an acquisition: an owner token alone takes more. */
const MOST_BYTES = 32;

export async function heap(bed: Bed) {
  const trial = bed.trial();
  const node = await bed.startNode();
  const client = await trial.client(node, 'directly');
  const repeat = (times: number) => client.repeat({ key: trial.key, leaseMs: LONG_LEASE_MS, times });
  await repeat(FIRST);
  let { heapBytes } = await node.resources();
  const growths: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await repeat(TIMES);
    const now = await node.resources();
    growths.push((now.heapBytes - heapBytes) / TIMES);
    heapBytes = now.heapBytes;
  }
  // What Node itself keeps comes once; what the lock keeps comes every time.
  const bytesKept = Math.max(0, Math.round(Math.min(...growths)));
  const said = `${countOf(ROUNDS * TIMES, 'acquisition')}: ${countOf(bytesKept, 'byte')} of memory stay of each`;
  return bytesKept > MOST_BYTES ? fails(`${said}.`, [], { bytesKept }) : holds(`${said}.`, { bytesKept });
}
