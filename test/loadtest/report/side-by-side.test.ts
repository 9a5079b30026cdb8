import { expect, test } from 'vitest';
import type { Timeline } from '../../../loadtest/evidence/results.ts';
import { type Layout, measureTimeline } from '../../../loadtest/report/timeline.ts';

const lasting = (durationMs: number): Timeline => ({ durationMs, lanes: [], moreLanes: 0, faults: [], overlaps: [] });
const layout: Layout = { name: 'wide', width: 600, left: 100, fontSize: 18, maxTicks: 5 };

test('two timelines side by side have one scale: the shorter one goes on for as long', () => {
  const [short, long] = [lasting(2_000), lasting(5_000)];
  const leastMs = measureTimeline(long, layout).playedMs;

  expect(leastMs).toBe(5_000);
  expect(measureTimeline(short, { ...layout, leastMs }).at(1_000)).toBe(measureTimeline(long, layout).at(1_000));
});
