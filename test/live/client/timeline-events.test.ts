import { describe, expect, test } from 'vitest';
import { eventBeside, eventsOf, storyOf, waitsIn } from '../../../live/client/timeline-events.ts';
import type { Sentence } from '../../../live/contract.ts';
import type { Timeline } from '../../../loadtest/evidence/results.ts';
import { lane, stepResult } from '../../loadtest/report/sample-steps.ts';

function timelineOf(stage: number, drill: string): Timeline {
  const { timeline } = stepResult(stage, drill);
  if (timeline === undefined) throw new Error(`No timeline of ${drill}`);
  return timeline;
}

const empty: Timeline = { durationMs: 2_000, lanes: [], moreLanes: 0, faults: [], overlaps: [] };
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

  test('a sale whose process died never leaves, one that waited in vain never entered', () => {
    expect(words(timelineOf(3, 'crashed-holder'))).toEqual([
      'sale 0001 on node-1 asks for the lock',
      'sale 0001 on node-1 enters',
      'the lock is in Redis in the name of sale 0001 on node-1',
      'sale 0001 on node-1 reads stock 100',
      'node-1: SIGKILL',
      'sale 0001 on node-2 asks for the lock',
      'sale 0001 on node-2 ends without having entered',
    ]);
  });

  test('a fault that lasts has an end; two who meet are named', () => {
    const told = words(timelineOf(8, 'paused-process'));
    expect(told).toContain('node-1: SIGSTOP');
    expect(told).toContain('node-1: SIGSTOP (over)');
    expect(told).toContain('sale 0001 on node-1 and sale 0001 on node-2 are both inside');
  });

  test('a fault that lasts to the end is not over', () => {
    const faults = [{ label: 'Redis is away', fromMs: 100, untilMs: 2_000 }];
    expect(words({ ...empty, faults })).toEqual(['Redis is away']);
    expect(words({ ...empty, durationMs: 2_001, faults })).toEqual(['Redis is away', 'Redis is away (over)']);
  });

  test('an overlap with a sale that is not drawn is none', () => {
    const timeline = { ...empty, overlaps: [{ fromMs: 1, untilMs: 2, lanes: [0, 12] as [number, number] }] };
    expect(eventsOf(timeline)).toEqual([]);
  });

  test('keep their keys while the timeline grows, and no two share one', () => {
    const timeline = timelineOf(4, 'slow-holder');
    const keys = eventsOf(timeline).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    const grown = { ...timeline, lanes: [...timeline.lanes, lane('node-1', '0099', 1, 2, 3)] };
    expect(eventsOf(grown).map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
  });
});

describe('from event to event', () => {
  const events = eventsOf(timelineOf(3, 'crashed-holder'));
  const [first, second] = events;
  const last = events.at(-1);

  test('the next one and the one before', () => {
    expect(eventBeside(events, first?.key, 1)).toBe(second);
    expect(eventBeside(events, second?.key, -1)).toBe(first);
  });

  test('it begins at the first, or at the last, and stays at the ends', () => {
    expect(eventBeside(events, undefined, 1)).toBe(first);
    expect(eventBeside(events, undefined, -1)).toBe(last);
    expect(eventBeside(events, first?.key, -1)).toBe(first);
    expect(eventBeside(events, last?.key, 1)).toBe(last);
    expect(eventBeside([], undefined, 1)).toBeUndefined();
  });

  test('an event that is there no more counts as none', () => {
    expect(eventBeside(events, 'gone', 1)).toBe(first);
  });
});

describe('the story of a sale', () => {
  test('names what it did, with the times', () => {
    expect(storyOf(lane('node-1', '0001', 20, 22, 68))).toBe(
      'Sale 0001 on node-1 asked at 0.020 s, entered at 0.022 s, read 100, wrote 99 and left at 0.068 s.',
    );
  });

  test('of one that died inside, one that never entered, one that waits', () => {
    const [dead, vain] = timelineOf(3, 'crashed-holder').lanes;
    expect(dead && storyOf(dead)).toBe(
      'Sale 0001 on node-1 asked at 0.020 s, entered at 0.022 s, read 100 and has not been seen to leave.',
    );
    expect(vain && storyOf(vain)).toBe('Sale 0001 on node-2 asked at 0.070 s and ended at 2.072 s without entering.');
    expect(storyOf({ node: 'node-2', saleId: '0002', askedMs: 70, leases: [] })).toBe(
      'Sale 0002 on node-2 asked at 0.070 s and has not entered.',
    );
  });
});

describe('the waits for the presenter', () => {
  const told = (atMs: number, waitedUntilMs?: number | null): Sentence => ({
    atMs,
    text: '',
    isStep: true,
    ...(waitedUntilMs !== undefined && { waitedUntilMs }),
  });

  test('are those of the steps that waited long, the one that waits still among them', () => {
    const story = [told(100), told(200, 5_200), told(5_300, 5_400), told(6_000, null)];
    expect(waitsIn(story, 8_000)).toEqual([
      { fromMs: 200, untilMs: 5_200 },
      { fromMs: 6_000, untilMs: 8_000 },
    ]);
  });

  test('of a drill that was played again are those since then', () => {
    const story = [told(200, 5_200), told(100, 2_100), told(2_500)];
    expect(waitsIn(story, 3_000)).toEqual([{ fromMs: 100, untilMs: 2_100 }]);
  });

  test('end with the timeline', () => {
    expect(waitsIn([told(200, 9_000)], 5_000)).toEqual([{ fromMs: 200, untilMs: 5_000 }]);
    expect(waitsIn([told(200, 9_000)], 300)).toEqual([]);
  });
});
