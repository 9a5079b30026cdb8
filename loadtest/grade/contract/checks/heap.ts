// What stays in memory of each acquisition.

import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS } from '../bed.ts';
import { fails, holds } from '../outcome.ts';

const FIRST = 500;
const TIMES = 1_000;
/** What Node itself keeps comes in some rounds; what the lock keeps comes in every one. */
const ROUNDS = 6;
/** No lock that keeps nothing needs more, in bytes an acquisition; an owner token alone takes more. */
const MOST_BYTES = 32;

export async function heap(bed: Bed) {
  const trial = bed.trial();
  const node = await bed.startNode();
  const client = await trial.client(node, 'directly');
  const repeat = (times: number) => client.repeat({ key: trial.key, leaseMs: LONG_LEASE_MS, times });
  await repeat(FIRST);
  let { heapBytes } = await node.resources();
  let bytesKept = Number.POSITIVE_INFINITY;
  let rounds = 0;
  while (bytesKept > MOST_BYTES && rounds < ROUNDS) {
    await repeat(TIMES);
    const now = await node.resources();
    bytesKept = Math.min(bytesKept, Math.max(0, Math.round((now.heapBytes - heapBytes) / TIMES)));
    heapBytes = now.heapBytes;
    rounds += 1;
  }
  const said = `${countOf(rounds * TIMES, 'acquisition')}: ${countOf(bytesKept, 'byte')} of memory stay of each`;
  return bytesKept > MOST_BYTES ? fails(`${said}.`, [], { bytesKept }) : holds(`${said}.`, { bytesKept });
}
