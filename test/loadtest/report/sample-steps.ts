import type { DrillResult, Timeline } from '../../../loadtest/evidence/results.ts';
import { hasNothingToBreak, verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';

/** Drills that go step by step, one of each kind of figure. */
export const stepDrillNames = ['crashed-holder', 'slow-holder', 'paused-process'];

/** Nobody gives the key of a dead holder up. */
const timeline: Timeline = {
  durationMs: 2_090,
  lanes: [
    {
      ...{ node: 'node-1', saleId: '0001', askedMs: 20, inside: { fromMs: 22, untilMs: 68 } },
      ...{ read: { ms: 23, stock: 100 }, leases: [{ fromMs: 22, untilMs: 2_090 }] },
    },
    { node: 'node-2', saleId: '0001', askedMs: 70, endedMs: 2_072, leases: [] },
  ],
  moreLanes: 4,
  faults: [{ label: 'SIGKILL', fromMs: 68, node: 'node-1' }],
  overlaps: [],
};

/** What such a drill gives under a stage. What is not expected holds. */
export function stepResult(stage: number, drill: string): DrillResult {
  const name = Object.keys(locks)[stage] ?? '';
  const expected = verdictExpected(name, drill);
  const common = { drill, expected, evidence: [], evidenceCount: 0, durationMs: 3_120 };
  if (hasNothingToBreak(name, drill)) {
    return { ...common, verdict: 'not-applicable', reasons: ['This stage has nothing that the drill could break.'] };
  }
  const isFail = expected === 'fail';
  return {
    ...common,
    verdict: isFail ? 'fail' : 'pass',
    reasons: [isFail ? 'It went wrong, as the timeline shows.' : 'It went well.'],
    figures: drill === 'crashed-holder' ? { takeoverMs: 1_003 } : { overlaps: 0, lostUpdates: isFail ? 3 : 0 },
    timeline: structuredClone(timeline),
  };
}
