import { expect, test } from 'vitest';
import { timelineSchema } from '../../../loadtest/evidence/results.ts';
import { proofOf } from '../../../loadtest/prove/results.ts';
import { timelineOf } from '../../../loadtest/prove/timeline.ts';
import { provedCell } from './proved-cell.ts';
import { failoverSteps, sampleCell } from './sample-proof.ts';

/** The counterexample of a real search as `prove.json` has it. */
async function counterexampleOf(...task: Parameters<typeof provedCell>) {
  const { cells } = await proofOf({ command: '', createdAt: new Date(), cells: [await provedCell(...task)] });
  return cells[0] ?? sampleCell();
}

test('timeline of 5-owner-check under late-release: holds, leases, and the release that is held up', async () => {
  const timeline = await timelineOf(await counterexampleOf('5-owner-check', 'late-release'));

  expect(timelineSchema.parse(timeline)).toEqual(timeline);
  expect(timeline.lanes).toEqual([
    {
      node: 'A',
      saleId: '1',
      askedMs: 1,
      inside: { fromMs: 2, untilMs: 4 },
      read: { ms: 3, stock: 10 },
      wrote: { ms: 4, stock: 9 },
      endedMs: 10,
      // Its lease is over at step 7, when the clock goes on.
      leases: [{ fromMs: 2, untilMs: 7 }],
    },
    {
      node: 'B',
      saleId: '1',
      askedMs: 8,
      inside: { fromMs: 9, untilMs: 11 },
      // A deletes its key at step 10, and B is still inside.
      leases: [{ fromMs: 9, untilMs: 10 }],
    },
  ]);
  expect(timeline.faults).toEqual([{ label: 'a command is held up', fromMs: 6, untilMs: 10, node: 'A' }]);
});

test('timeline: a failover takes the lease away, and two are inside; where masters vote no lease is drawn', async () => {
  const failover = { scope: 'failover', counterexample: failoverSteps };
  const { lanes, overlaps, faults } = await timelineOf(sampleCell(failover));
  const ofMasters = await timelineOf(sampleCell({ ...failover, masters: 3 }));

  expect(lanes.map(({ leases }) => leases)).toEqual([[{ fromMs: 2, untilMs: 3 }], [{ fromMs: 5, untilMs: 6 }]]);
  expect(overlaps).toEqual([{ fromMs: 5, untilMs: 6, lanes: [0, 1] }]);
  expect(faults).toMatchObject([{ label: 'failover' }]);
  expect(ofMasters.lanes.flatMap(({ leases }) => leases)).toEqual([]);
});
