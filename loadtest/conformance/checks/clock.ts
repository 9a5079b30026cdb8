// The clocks of the nodes differ: one is ahead by a lease, one is behind by one, one runs fast.

import type { LockUnderTest } from '../lock-under-test.ts';
import { holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';

const clocks = {
  'is ahead by a lease': { aheadMs: LEASE_MS },
  'is behind by a lease': { aheadMs: -LEASE_MS },
  'runs 10 % fast': { rate: 1.1 },
};

/** Each of them asks while another holds, and holds while another asks. */
export async function clock({ stage }: LockUnderTest) {
  for (const [name, ofClock] of Object.entries(clocks)) {
    await stage(async ({ process, story }) => {
      const [a, b] = [process().holder('A', LEASE_MS), process(ofClock).holder('B', LEASE_MS)];
      const holdsAgainst = [
        [a, b],
        [b, a],
      ] as const;
      for (const [holder, other] of holdsAgainst) {
        await holder.enters();
        await story.pass(LEASE_MS / 10);
        await other.mustStayOut(`${other.name} entered while ${holder.name} was inside. The clock of B ${name}.`);
        await holder.leaves();
      }
    });
  }
  return holds('A clock that is a lease ahead or behind, or 10 % fast, lets nobody in.');
}
