import { expect, test } from 'vitest';
import { timelineSchema } from '../../../loadtest/evidence/results.ts';
import { proofOf } from '../../../loadtest/prove/results.ts';
import { axisOf, timelineOf } from '../../../loadtest/prove/timeline.ts';
import { drawTimeline } from '../../../loadtest/report/timeline.ts';
import { provedCell } from './proved-cell.ts';
import { failoverSteps, sampleCell } from './sample-proof.ts';

/** The counterexample of a real search as `prove.json` has it. */
async function counterexampleOf(...task: Parameters<typeof provedCell>) {
  const { cells } = await proofOf({ command: '', createdAt: new Date(), cells: [await provedCell(...task)] });
  return cells[0] ?? sampleCell();
}

test('timeline of 5-owner-check under late-release: holds, leases, and the release that is held up', async () => {
  const cell = await counterexampleOf('5-owner-check', 'late-release');

  const timeline = await timelineOf(cell);

  expect(cell.counterexample).toHaveLength(10);
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
  expect(timeline.overlaps).toEqual([]);
});

test.each([
  ['4-ttl', 'slow-holder', { label: 'paused', node: 'A' }],
  ['8-auto-renew', 'late-write', { label: 'a command is held up', node: 'A' }],
  ['8-auto-renew', 'failover', { label: 'failover' }],
  ['3-spin', 'crashed-holder', { label: 'killed', node: 'A' }],
])('timeline of %s under %s: the fault is marked', async (stage, scope, fault) => {
  const { faults } = await timelineOf(await counterexampleOf(stage, scope));
  expect(faults).toEqual([expect.objectContaining(fault)]);
});

test('timeline: a lock that names no owner belongs to the sale whose command has made it', async () => {
  const { lanes } = await timelineOf(await counterexampleOf('4-ttl', 'long-sale'));

  expect(lanes.map(({ node, leases }) => [node, leases])).toEqual([
    ['A', [{ fromMs: 2, untilMs: 4 }]],
    ['B', [{ fromMs: 6, untilMs: 7 }]],
  ]);
});

test('timeline: a failover takes the lease away, and two are inside', async () => {
  const { lanes, overlaps } = await timelineOf(sampleCell({ scope: 'failover', counterexample: failoverSteps }));

  expect(lanes.map(({ leases }) => leases)).toEqual([[{ fromMs: 2, untilMs: 3 }], [{ fromMs: 5, untilMs: 6 }]]);
  expect(overlaps).toEqual([{ fromMs: 5, untilMs: 6, lanes: [0, 1] }]);
});

test('timeline: a killed holder is inside until it is killed', async () => {
  const cell = await counterexampleOf('3-spin', 'crashed-holder');
  const crashedAt = (cell.counterexample ?? []).findIndex(({ kind }) => kind === 'crash') + 1;

  const [lane] = (await timelineOf(cell)).lanes;

  expect(lane?.inside?.untilMs).toBe(crashedAt);
  expect(lane?.endedMs).toBe(crashedAt);
});

test('timeline: each sale of a process has a lane, and begins when the one before has ended', async () => {
  const cell = await counterexampleOf('4-ttl', 'late-write', { sales: 2 });
  const { lanes } = await timelineOf(cell);

  expect(lanes.length).toBeGreaterThan(2);
  for (const node of ['A', 'B']) {
    const own = lanes.filter((lane) => lane.node === node);
    expect(own.map(({ saleId }) => saleId)).toEqual(own.map((_, index) => String(index + 1)));
    for (const [index, { askedMs }] of own.entries()) if (index > 0) expect(askedMs).toBe(own[index - 1]?.endedMs);
  }
});

test('timeline: where masters vote no lease is drawn', async () => {
  const cell = sampleCell({ masters: 3, counterexample: failoverSteps });
  expect((await timelineOf(cell)).lanes.flatMap(({ leases }) => leases)).toEqual([]);
});

test('axis: counts the steps, and below them stands the clock', async () => {
  const cell = await counterexampleOf('5-owner-check', 'late-release');
  const { markup } = drawTimeline('late-release under 5-owner-check', await timelineOf(cell), axisOf(cell));
  const [wide = ''] = markup.match(/<svg class="wide".*?<\/svg>/s) ?? [];

  expect([...wide.matchAll(/<text class="time"[^>]*>(.*?)<\/text>/g)].map(([, label]) => label)).toEqual([
    '2',
    '4',
    '6',
    '8',
    '10',
    '0 ms',
    '901 ms',
  ]);
  expect(markup).toContain('2 sales asked for the lock in 10 steps, 2 entered');
  expect(markup).toContain('A: a command is held up from step 6 to step 10');
});
