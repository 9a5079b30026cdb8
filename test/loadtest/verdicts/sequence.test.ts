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
const resultOf = (timeline?: Timeline): DrillResult => ({
  ...{ ...result, witnesses: [], witnessCount: 0, stockOverTime: [] },
  ...(timeline && { timeline }),
});

test('a drill in words: each sale and each fault at its moment', () => {
  expect(sequenceOf(resultOf(timeline))?.sentences).toEqual([
    '0.010 s: sale 0001 on node-1 asks for the lock.',
    '0.020 s: sale 0001 on node-1 has the lock.',
    '0.030 s: sale 0001 on node-1 reads 100.',
    '0.040 s: sale 0001 on node-2 asks for the lock.',
    '0.050 s: sale 0002 on node-2 asks for the lock.',
    '0.100 s: node-1: SIGSTOP.',
    '0.900 s: master 3 restarts empty.',
    '1.000 s: sale 0002 on node-2 ends, and never had the lock.',
    '1.100 s: sale 0001 on node-2 has the lock.',
    '1.100 s: sale 0001 on node-1 and sale 0001 on node-2 are both inside.',
    '1.110 s: sale 0001 on node-2 reads 100.',
    '1.400 s: node-1: SIGSTOP, until now.',
    '1.490 s: sale 0001 on node-1 writes 99.',
    '1.500 s: sale 0001 on node-1 leaves.',
    '1.600 s: sale 0001 on node-2 leaves, and no write of it is confirmed.',
  ]);
});

test('a drill as a diagram: a participant for each sale and one for the stock', () => {
  const lines = sequenceOf(resultOf(timeline))?.diagram.split('\n  ') ?? [];
  expect(lines.slice(0, 5)).toEqual([
    'sequenceDiagram',
    'participant A as sale 0001 on node-1',
    'participant B as sale 0001 on node-2',
    'participant C as sale 0002 on node-2',
    'participant S as stock',
  ]);
  expect(lines).toContain('S-->>A: 0.030 s reads 100');
  expect(lines).toContain('A->>S: 1.490 s writes 99');
  expect(lines).toContain('Note over A: 0.100 s SIGSTOP');
  expect(lines).toContain('Note over A,S: 0.900 s master 3 restarts empty');
  expect(lines).toContain('Note over A,B: 1.100 s both are inside');
});

test('a drill in which no sale asked has nothing to show', () => {
  expect(sequenceOf(resultOf())).toBeUndefined();
  expect(sequenceOf(resultOf({ ...timeline, lanes: [] }))).toBeUndefined();
});

test('of many sales those that met come first', () => {
  const crowd = Array.from({ length: 8 }, (_, at) => asks(`1${at}`, 'node-1', 1, 2));
  const lanes = [...crowd, ...timeline.lanes];
  const overlaps = [{ fromMs: 1_100, untilMs: 1_500, lanes: [8, 9] as [number, number] }];
  const { diagram = '' } = sequenceOf(resultOf({ ...timeline, lanes, overlaps })) ?? {};
  expect(diagram).toContain('participant C as sale 0001 on node-1');
  expect(diagram).toContain('participant D as sale 0001 on node-2');
});
