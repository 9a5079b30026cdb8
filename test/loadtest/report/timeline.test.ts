import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Timeline, timelineSchema } from '../../../loadtest/evidence/results.ts';
import { drawTimeline } from '../../../loadtest/report/timeline.ts';
import { stepResult } from './sample-steps.ts';

const drawn = (timeline: Timeline) => drawTimeline('a drill', timeline).markup.match(/<svg.*?<\/svg>/s)?.[0] ?? '';

/** The boxes of some kinds: bars, bands, spans. */
function boxes(svg: string, ...kinds: string[]) {
  return [...svg.matchAll(/<rect class="([\w-]+)" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"/g)]
    .filter(([, name = '']) => kinds.includes(name))
    .map(([, , x, y, width, height]) => ({ x: Number(x), y: Number(y), width: Number(width), height: Number(height) }));
}

/** The texts of some kinds. */
function texts(svg: string, ...kinds: string[]): { x: number; y: number; label: string }[] {
  return [...svg.matchAll(/<text class="([\w-]+)" x="(.*?)" y="(.*?)"[^>]*>(.*?)<\/text>/g)]
    .filter(([, name = '']) => kinds.includes(name))
    .map(([, , x, y, label = '']) => ({ x: Number(x), y: Number(y), label }));
}
const labels = (svg: string, kind: string) => texts(svg, kind).map(({ label }) => label);

function timelineOf(stage: number, drill: string): Timeline {
  const { timeline } = stepResult(stage, drill);
  if (timeline === undefined) throw new Error(`No timeline of ${drill}`);
  return timeline;
}

test('a crash: a lane for each sale; the lease outlasts the holder, to the right edge; the fault stands on its lane', () => {
  const svg = drawn(timelineOf(3, 'crashed-holder'));
  const [inside] = boxes(svg, 'inside');
  const [lease] = boxes(svg, 'lease');
  const [, second] = texts(svg, 'name');

  expect(labels(svg, 'name')).toEqual(['node-1 · sale 0001', 'node-2 · sale 0001']);
  expect(labels(svg, 'note')).toEqual(['never entered']);
  expect(lease?.x).toBe(inside?.x);
  expect((lease?.x ?? 0) + (lease?.width ?? 0)).toBeCloseTo(798, 0);
  expect(inside?.width).toBeLessThan(20);
  expect(labels(svg, 'fault-label')).toEqual(['node-1: SIGKILL']);
  expect(Number(svg.match(/class="fault" d="M\S+ \d+V(\d+)"/)?.[1])).toBeLessThan(second?.y ?? 0);
});

test('any timeline is drawn inside its frame, and a short sale is seen', () => {
  const ms = fc.double({ min: 0, max: 10_000, noNaN: true });
  const span = fc.tuple(ms, ms).map(([fromMs, untilMs]) => ({ fromMs, untilMs }));
  const step = fc.record({ ms, stock: fc.integer() });
  const node = fc.constantFrom('node-1', 'a node with a very long name indeed');
  const always = { node, saleId: fc.string(), askedMs: ms, leases: fc.array(span) };
  const sale = fc.record(
    { ...always, inside: span, read: step, wrote: step, endedMs: ms },
    { requiredKeys: ['node', 'saleId', 'askedMs', 'leases'] },
  );
  const fault = fc.record({ label: fc.string(), fromMs: ms, untilMs: ms, node }, { requiredKeys: ['label', 'fromMs'] });
  const overlap = fc.record({ fromMs: ms, untilMs: ms, lanes: fc.tuple(fc.nat(12), fc.nat(12)) });
  const timelines = fc.record({
    durationMs: fc.oneof(ms, fc.constant(0)),
    lanes: fc.array(sale, { maxLength: 12 }),
    moreLanes: fc.nat(100),
    faults: fc.array(fault, { maxLength: 6 }),
    overlaps: fc.array(overlap, { maxLength: 6 }),
  });
  fc.assert(
    fc.property(timelines, (timeline) => {
      const svg = drawn(timelineSchema.parse(timeline));
      const width = Number(svg.match(/viewBox="0 0 (\d+) /)?.[1]);
      expect(svg.replace(/<text.*?<\/text>|aria-label=".*?"/gs, '')).not.toMatch(/NaN|undefined|Infinity|="-/);
      const drawnBoxes = boxes(svg, 'inside', 'lease', 'overlap', 'joint', 'fault-span');
      expect(drawnBoxes.filter((box) => !(box.width > 0 && box.x + box.width <= width + 0.2))).toEqual([]);
      expect(boxes(svg, 'inside').filter((box) => box.width < 4)).toEqual([]);
      const drawnTexts = texts(svg, 'told', 'note', 'name', 'fault-label', 'time');
      expect(drawnTexts.filter(({ x }) => !(x <= width))).toEqual([]);
    }),
    { seed: 1, numRuns: 100 },
  );
});
