import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Timeline, timelineSchema } from '../../../loadtest/evidence/results.ts';
import { drawTimeline } from '../../../loadtest/report/timeline.ts';
import { stepResult } from './sample-steps.ts';

/** What is drawn of these kinds, as `kind left width`, in hundredths of the drill. */
function parts(timeline: Timeline, ...kinds: string[]): string[] {
  return [
    ...drawTimeline('a drill', timeline).markup.matchAll(
      /<i class="([\w ]+)" style="left: ([\d.]+)%; width: ([\d.]+)%"/g,
    ),
  ]
    .filter(([, kind = '']) => kinds.includes(kind))
    .map(([, kind, left, width]) => `${kind} ${left} ${width}`);
}

test('a crash: the fault has a lane, the lease outlasts the holder, and the next one never entered', () => {
  const timeline = stepResult(3, 'crashed-holder').timeline as Timeline;
  expect(parts(timeline, 'fault moment', 'inside', 'lease')).toEqual([
    'fault moment 3.25 0',
    'lease 1.05 98.95',
    'inside 1.05 2.2',
  ]);
  const { markup } = drawTimeline('a drill', timeline);
  const lanes = [...markup.matchAll(/<b>(.*?)<\/b> <em>(.*?)<\/em>/g)].map(([, name, note]) => [name, note]);
  expect(lanes).toEqual([
    ['SIGKILL', 'node-1'],
    ['node-1 · sale 0001', 'read 100'],
    ['node-2 · sale 0001', 'never entered'],
  ]);
});

test('any timeline is drawn inside its frame', () => {
  const ms = fc.double({ min: 0, max: 10_000, noNaN: true });
  const span = fc.tuple(ms, ms).map(([a, b]) => ({ fromMs: Math.min(a, b), untilMs: Math.max(a, b) }));
  const sale = fc.record(
    { node: fc.string(), saleId: fc.string(), askedMs: fc.constant(0), leases: fc.array(span), inside: span },
    { requiredKeys: ['node', 'saleId', 'askedMs', 'leases'] },
  );
  const timelines = fc.record({
    durationMs: fc.oneof(ms, fc.constant(0)),
    lanes: fc.array(sale, { maxLength: 12 }),
    moreLanes: fc.nat(100),
    faults: fc.array(fc.record({ label: fc.string(), fromMs: ms }), { maxLength: 6 }),
    overlaps: fc.array(
      span.chain((each) => fc.record({ ...constants(each), lanes: fc.tuple(fc.nat(12), fc.nat(12)) })),
    ),
  });
  fc.assert(
    fc.property(timelines, (timeline) => {
      const drawn = parts(timelineSchema.parse(timeline), 'waits', 'lease', 'inside', 'overlap', 'fault moment');
      const ends = drawn.map((part) => part.split(' ').slice(-2).map(Number) as [number, number]);
      expect(ends.filter(([left, width]) => !(left >= 0 && width >= 0 && left + width <= 100.02))).toEqual([]);
    }),
    { seed: 1, numRuns: 100 },
  );
});

const constants = ({ fromMs, untilMs }: { fromMs: number; untilMs: number }) => ({
  fromMs: fc.constant(fromMs),
  untilMs: fc.constant(untilMs),
});
