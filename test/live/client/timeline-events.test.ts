import { describe, expect, test } from 'vitest';
import { eventsOf, waitsIn } from '../../../live/client/timeline-events.ts';
import type { Sentence } from '../../../live/contract.ts';
import type { Timeline } from '../../../loadtest/evidence/results.ts';
import { lane, stepResult } from '../../loadtest/report/sample-steps.ts';

const empty: Timeline = { durationMs: 2_000, lanes: [], moreLanes: 0, faults: [], overlaps: [] };
const timelineOf = (stage: number, drill: string) => stepResult(stage, drill).timeline ?? empty;
const words = (timeline: Timeline) => eventsOf(timeline).map((event) => event.words);

describe('events of a timeline', () => {
  test('stand in the order of time, and at one moment in the order of a sale', () => {
    const { leases: _, ...sale } = lane('node-1', '0001', 0, 10, 100);
    const timeline = { ...empty, lanes: [{ ...sale, leases: [{ fromMs: 10, untilMs: 100 }] }] };
    expect(words(timeline)).toEqual([
      'sale 0001 on node-1 asks for the lock',
      'sale 0001 on node-1 enters',
      'the lock is in Redis in the name of sale 0001 on node-1',
      'sale 0001 on node-1 reads stock 100',
      'sale 0001 on node-1 writes stock 99',
      'sale 0001 on node-1 leaves',
      'the lock of sale 0001 on node-1 is in Redis no more',
    ]);
  });

  test('a fault has an end unless it lasts to the end; two who meet are named', () => {
    const told = words(timelineOf(8, 'paused-process'));
    expect(told).toEqual(expect.arrayContaining(['node-1: SIGSTOP', 'node-1: SIGSTOP (over)']));
    expect(told).toContain('sale 0001 on node-1 and sale 0001 on node-2 are both inside');

    const faults = [{ label: 'Redis is away', fromMs: 100, untilMs: 2_000 }];
    expect(words({ ...empty, faults })).toEqual(['Redis is away']);
  });
});

test('the waits for the presenter: those that were long, since the drill was played last, until the timeline ends', () => {
  const told = (atMs: number, waitedUntilMs?: number | null): Sentence => ({
    atMs,
    text: '',
    isStep: true,
    ...(waitedUntilMs !== undefined && { waitedUntilMs }),
  });
  const waits = (story: Sentence[], untilMs: number) =>
    waitsIn(story, untilMs).map(({ fromMs, untilMs }) => [fromMs, untilMs]);

  const story = [told(100), told(200, 5_200), told(5_300, 5_400), told(6_000, null)];
  expect(waits(story, 8_000)).toEqual([
    [200, 5_200],
    [6_000, 8_000],
  ]);
  expect(waits([told(200, 5_200), told(100, 2_100), told(2_500)], 3_000)).toEqual([[100, 2_100]]);
});
