import { expect, test } from 'vitest';
import type { Observed } from '../../../loadtest/harness/observed.ts';
import type { TargetNode } from '../../../loadtest/harness/target.ts';
import { openTestBed } from '../../../loadtest/harness/test-bed.ts';
import { inVirtualWorld, LEASE_MS } from '../../../loadtest/virtual/play.ts';
import { lockNamed } from '../../../virtual/lock-service.ts';

test('a node that was killed with a sale inside, and runs again: the dead sale has ended, and the next one meets nobody', async () => {
  const stage = '8-auto-renew';
  const { timeline, diedMs } = await inVirtualWorld({ lock: lockNamed(stage) }, async (target) => {
    const [node] = target.nodes as [TargetNode];
    let observed: Observed | undefined;
    const testBed = await openTestBed({
      target,
      stage,
      timing: { leaseMs: LEASE_MS },
      stock: 100,
      narrate: async () => {},
      observe: (seen) => {
        observed = seen;
      },
    });
    await testBed.sellInside(node, { untilResumed: true });
    await testBed.kill(node);
    await testBed.revive(node);
    await testBed.sell(node).end;
    const { timeline } = await testBed.close();
    const { startedAt, deaths } = observed as unknown as Observed;
    return { timeline, diedMs: deaths().map(({ at }) => at - startedAt) };
  });

  expect(timeline.lanes.map(({ saleId }) => saleId)).toEqual(['0001', '0001']);
  expect(diedMs).toEqual([timeline.lanes[0]?.inside?.untilMs]);
  expect(timeline.overlaps).toEqual([]);
});
