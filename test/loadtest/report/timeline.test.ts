import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Timeline, timelineSchema } from '../../../loadtest/evidence/results.ts';
import { drawTimeline, measureTimeline } from '../../../loadtest/report/timeline.ts';
import { lane, stepResult } from './sample-steps.ts';

const empty: Timeline = { durationMs: 2_000, lanes: [], moreLanes: 0, faults: [], overlaps: [] };
const layout = { width: 800, left: 200, fontSize: 18, maxTicks: 5, isGrowing: true };

const narrow = { width: 360, left: 0, fontSize: 15, maxTicks: 5 };
const drawn = (timeline: Timeline, own?: typeof narrow) =>
  drawTimeline('a drill', timeline, own).markup.match(/<svg.*?<\/svg>/s)?.[0] ?? '';

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

test('a wait is narrow, with its length; what was before and after it keeps its length and its moment', () => {
  const timeline = { ...empty, durationMs: 34_000, lanes: [lane('node-1', '0001', 0, 500, 33_500)] };
  const waits = [{ fromMs: 1_000, untilMs: 31_000 }];
  const { at } = measureTimeline(timeline, { ...layout, waits });
  expect(at(31_000) - at(1_000)).toBeCloseTo(24);
  expect(at(1_000) - at(0)).toBeCloseTo((at(33_000) - at(31_000)) / 2);

  const { markup } = drawTimeline('a drill', timeline, { ...layout, waits });
  expect(labels(markup, 'time')).toEqual(['0', '1 s', '32 s', '33 s', '34 s']);
  expect(markup).toMatch(/class="told"[^>]*>30 s</);
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
      for (const svg of [undefined, narrow].map((own) => drawn(timelineSchema.parse(timeline), own))) {
        const width = Number(svg.match(/viewBox="0 0 (\d+) /)?.[1]);
        expect(svg.replace(/<text.*?<\/text>|aria-label=".*?"/gs, '')).not.toMatch(/NaN|undefined|Infinity|="-/);
        const drawnBoxes = boxes(svg, 'inside', 'lease', 'overlap', 'joint', 'fault-span');
        expect(drawnBoxes.filter((box) => !(box.width > 0 && box.x + box.width <= width + 0.2))).toEqual([]);
        expect(boxes(svg, 'inside').filter((box) => box.width < 4)).toEqual([]);
        const drawnTexts = texts(svg, 'told', 'note', 'name', 'fault-label', 'time');
        expect(drawnTexts.filter(({ x }) => !(x <= width))).toEqual([]);
      }
    }),
    { seed: 1, numRuns: 100 },
  );
});
