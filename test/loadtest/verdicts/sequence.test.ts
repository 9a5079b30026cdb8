import { expect, test } from 'vitest';
import type { DrillResult, Timeline } from '../../../loadtest/evidence/results.ts';
import { sequenceOf } from '../../../loadtest/verdicts/sequence.ts';

const asks = (saleId: string, node: string, askedMs: number, endedMs: number) => ({
  ...{ saleId, node, askedMs, endedMs },
  leases: [],
});
const timeline: Timeline = {
  durationMs: 2_000,
  lanes: [
    {
      ...asks('0001', 'node-1', 10, 1_501),
      ...{ inside: { fromMs: 20, untilMs: 1_500 }, read: { ms: 30, stock: 100 }, wrote: { ms: 1_490, stock: 99 } },
    },
    {
      ...asks('0001', 'node-2', 40, 1_601),
      inside: { fromMs: 1_100, untilMs: 1_600 },
      read: { ms: 1_110, stock: 100 },
    },
    asks('0002', 'node-2', 50, 1_000),
  ],
  moreLanes: 0,
  faults: [
    { label: 'SIGSTOP', fromMs: 100, untilMs: 1_400, node: 'node-1' },
    { label: 'master 3 restarts empty', fromMs: 900 },
  ],
  overlaps: [{ fromMs: 1_100, untilMs: 1_500, lanes: [0, 1] }],
};
const result = { drill: 'paused-process', verdict: 'fail' as const, taught: null, reasons: [], durationMs: 2_000 };
const resultOf = (timeline: Timeline): DrillResult => ({
  ...{ ...result, witnesses: [], witnessCount: 0, stockOverTime: [], timeline },
});

test('a drill in words and as a diagram: each sale and each fault at its moment', () => {
  const { sentences, diagram } = sequenceOf(resultOf(timeline)) ?? {};
  expect(sentences?.slice(5, 10)).toEqual([
    '0.100 s: node-1: SIGSTOP.',
    '0.900 s: master 3 restarts empty.',
    '1.000 s: sale 0002 on node-2 ends, and never had the lock.',
    '1.100 s: sale 0001 on node-2 has the lock.',
    '1.100 s: sale 0001 on node-1 and sale 0001 on node-2 are both inside.',
  ]);
  expect(diagram).toMatch(/participant B as sale 0001 on node-2\n.*A->>S: 1\.490 s writes 99\n/s);
});
