import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Timeline, timelineSchema } from '../../../loadtest/evidence/results.ts';
import { drawTimeline, measureTimeline } from '../../../loadtest/report/timeline.ts';
import { lane, stepResult } from './sample-steps.ts';

const empty: Timeline = { durationMs: 2_000, lanes: [], moreLanes: 0, faults: [], overlaps: [] };

/** Both drawings: the one for wide windows, then the one for a phone. */
function drawn(timeline: Timeline): string[] {
  const { markup } = drawTimeline('a drill', timeline);
  return [...markup.matchAll(/<svg.*?<\/svg>/gs)].map(([svg]) => svg);
}

function wide(timeline: Timeline): string {
  return drawn(timeline)[0] ?? '';
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The boxes of some kinds: bars, bands, spans. */
function boxes(svg: string, ...kinds: string[]): Box[] {
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

/** The lines of a kind: where they begin. */
function lines(svg: string, kind: string): { x: number; y: number }[] {
  return [...svg.matchAll(/<path class="([\w -]+)" d="M(\S+) ([\d.-]+)[VH]/g)]
    .filter(([, name]) => name === kind)
    .map(([, , x, y]) => ({ x: Number(x), y: Number(y) }));
}

function timelineOf(stage: number, drill: string): Timeline {
  const { timeline } = stepResult(stage, drill);
  if (timeline === undefined) throw new Error(`No timeline of ${drill}`);
  return timeline;
}

describe('the timeline of a crash', () => {
  const svg = wide(timelineOf(3, 'crashed-holder'));

  test('has a lane for each sale, named by its node and its id', () => {
    expect(texts(svg, 'name').map(({ label }) => label)).toEqual(['node-1 · sale 0001', 'node-2 · sale 0001']);
  });

  test('shows that the lease outlasts the holder, to the right edge', () => {
    const [inside] = boxes(svg, 'inside');
    const [lease] = boxes(svg, 'lease');
    expect(lease?.x).toBe(inside?.x);
    expect((lease?.x ?? 0) + (lease?.width ?? 0)).toBeCloseTo(798, 0);
    expect(inside?.width).toBeLessThan(20);
  });

  test('shows who never entered, and marks the fault on the lane of its node alone', () => {
    expect(texts(svg, 'note').map(({ label }) => label)).toEqual(['never entered']);
    expect(lines(svg, 'wait')).toHaveLength(3);
    expect(texts(svg, 'fault-label').map(({ label }) => label)).toEqual(['node-1: SIGKILL']);
    const [fault, ...others] = lines(svg, 'fault');
    const [first, second] = texts(svg, 'name');
    expect(others).toEqual([]);
    expect(fault?.y).toBeLessThan(first?.y ?? 0);
    expect(svg).toMatch(new RegExp(`class="fault" d="M[\\d.]+ ${fault?.y}V(\\d+)"`));
    expect(Number(svg.match(/class="fault" d="M\S+ \d+V(\d+)"/)?.[1])).toBeLessThan(second?.y ?? 0);
  });
});

test('an overlap is drawn on both lanes, with a band that joins them', () => {
  const svg = wide(timelineOf(4, 'slow-holder'));
  const [upper, lower] = boxes(svg, 'overlap');
  const [joint] = boxes(svg, 'joint');
  expect(boxes(svg, 'overlap')).toHaveLength(4);
  expect(upper?.x).toBe(lower?.x);
  expect(joint?.x).toBe(upper?.x);
  expect(joint?.y).toBeGreaterThan(upper?.y ?? 0);
  expect(joint?.y).toBeLessThan(lower?.y ?? 0);
  expect(wide(timelineOf(5, 'slow-holder'))).not.toContain('class="overlap"');
});

test('a fault that lasts covers the lanes of its node, and one without a node covers all', () => {
  const timeline = timelineOf(8, 'paused-process');
  expect(boxes(wide(timeline), 'fault-span')).toHaveLength(1);
  const faults = [{ label: 'Redis is away', fromMs: 100, untilMs: 900 }];
  const [span, ...others] = boxes(wide({ ...timeline, faults }), 'fault-span');
  expect(others).toEqual([]);
  expect(span?.height).toBeGreaterThan(4 * 50);
});

test('what was read and written stands at its moment, or in one text when there is no room for two', () => {
  const far = wide({ ...empty, lanes: [lane('node-1', '0001', 0, 200, 1_500)] });
  expect(texts(far, 'told').map(({ label }) => label)).toEqual(['read 100', 'wrote 99']);
  const close = wide({ ...empty, lanes: [lane('node-1', '0001', 0, 200, 204)] });
  expect(texts(close, 'told').map(({ label }) => label)).toEqual(['read 100, wrote 99']);
});

test('a sale of some milliseconds in a drill of seconds is still seen', () => {
  for (const svg of drawn({ ...empty, durationMs: 60_000, lanes: [lane('node-1', '0001', 0, 59_999, 60_000)] })) {
    expect(boxes(svg, 'inside')[0]?.width).toBeGreaterThanOrEqual(4);
  }
});

test('labels of faults that come close together stand one below the other', () => {
  const faults = [900, 900, 905, 910].map((fromMs, i) => ({ label: `a fault with a long name ${i}`, fromMs }));
  for (const svg of drawn({ ...empty, faults })) {
    expect(new Set(texts(svg, 'fault-label').map(({ y }) => y)).size).toBe(4);
  }
  const apart = [0, 1_500].map((fromMs) => ({ label: 'a fault', fromMs }));
  expect(new Set(texts(wide({ ...empty, faults: apart }), 'fault-label').map(({ y }) => y)).size).toBe(1);
});

test('the axis counts in seconds, from zero to the last thing that happened', () => {
  expect(texts(wide(empty), 'time').map(({ label }) => label)).toEqual(['0', '0.5 s', '1 s', '1.5 s', '2 s']);
  expect(texts(wide({ ...empty, durationMs: 60 }), 'time').at(-1)?.label).toBe('0.06 s');
  const late = { ...empty, lanes: [lane('node-1', '0001', 0, 10, 3_900)] };
  expect(texts(wide(late), 'time').at(-1)?.label).toBe('3.5 s');
});

test('without a sale the drawing says so; sales that are not drawn are counted', () => {
  expect(wide(empty)).toContain('No sale asked for the lock.');
  expect(drawTimeline('a drill', { ...empty, moreLanes: 14 }).markup).toContain('14 more sales: not drawn.');
});

test('drawn for a width of its own it is measured as it is drawn', () => {
  const layout = { name: 'wide' as const, width: 600, left: 150, fontSize: 18, maxTicks: 5 };
  const timeline = timelineOf(3, 'crashed-holder');
  const measures = measureTimeline(timeline, layout);
  const { markup } = drawTimeline('a drill', timeline, undefined, [layout]);
  expect(markup.match(/<svg/g)).toHaveLength(1);
  expect(markup).toContain(`viewBox="0 0 600 ${measures.height}"`);
  const [upper, lower] = boxes(markup, 'inside', 'lease').toSorted((a, b) => a.y - b.y);
  expect(upper?.x).toBeCloseTo(measures.at(22), 0);
  expect(lower?.y).toBeGreaterThan(measures.lanesTop);
  expect(lower?.y).toBeLessThan(measures.lanesTop + measures.laneHeight);
  expect(lines(markup, 'axis')[0]?.y).toBe(measures.lanesBottom);
});

test('while it grows, a sale that has not entered waits; one that is done never entered', () => {
  const layout = { name: 'wide' as const, width: 800, left: 198, fontSize: 18, maxTicks: 5, isGrowing: true };
  const waits = { node: 'node-2', saleId: '0002', askedMs: 10, leases: [] };
  const notes = (timeline: Timeline) =>
    texts(drawTimeline('a drill', timeline, undefined, [layout]).markup, 'note').map(({ label }) => label);
  expect(notes({ ...empty, lanes: [waits, { ...waits, endedMs: 20 }] })).toEqual(['waits', 'never entered']);
  expect(texts(wide({ ...empty, lanes: [waits] }), 'note').map(({ label }) => label)).toEqual(['never entered']);
});

test('a wait is narrow, with its length; what was before and after it keeps its length and its moment', () => {
  const layout = { name: 'wide' as const, width: 800, left: 200, fontSize: 18, maxTicks: 5, isGrowing: true };
  const timeline = { ...empty, durationMs: 34_000, lanes: [lane('node-1', '0001', 0, 500, 33_500)] };
  const waits = [{ fromMs: 1_000, untilMs: 31_000 }];
  const { at } = measureTimeline(timeline, { ...layout, waits });
  expect(at(31_000) - at(1_000)).toBeCloseTo(24);
  expect(at(1_000) - at(0)).toBeCloseTo((at(33_000) - at(31_000)) / 2);
  expect([at(0), at(34_000)]).toEqual([200, 798]);

  const { markup } = drawTimeline('a drill', timeline, undefined, [{ ...layout, waits }]);
  expect(texts(markup, 'time').map(({ label }) => label)).toEqual(['0', '1 s', '32 s', '33 s', '34 s']);
  expect(markup).toMatch(/class="told"[^>]*>30 s</);
});

test('low lanes are all there, each with its name and what its sale read and wrote', () => {
  const layout = { name: 'wide' as const, width: 800, left: 160, fontSize: 18, maxTicks: 5, isGrowing: true };
  const timeline = timelineOf(4, 'slow-holder');
  const [high, low] = [layout, { ...layout, isLow: true }].map((one) => measureTimeline(timeline, one));
  expect(low?.laneHeight).toBeLessThan((high?.laneHeight ?? 0) / 3);
  const told = (isLow: boolean) => {
    const { markup } = drawTimeline('a drill', timeline, undefined, [{ ...layout, isLow }]);
    expect(texts(markup, 'name')).toHaveLength(timeline.lanes.length);
    expect(boxes(markup, 'inside')).toHaveLength(timeline.lanes.filter(({ inside }) => inside).length);
    return texts(markup, 'told', 'note')
      .map(({ label }) => label)
      .join(', ')
      .split(', ')
      .sort();
  };
  expect(told(true)).toEqual(told(false));
});

test('names from outside cannot become markup', () => {
  const evil = `"><script>alert('1 & 2')</script>`;
  const faults = [{ label: evil, fromMs: 10, untilMs: 30, node: evil }];

  expect(drawTimeline(evil, { ...empty, lanes: [lane(evil, evil, 0, 10, 20)], faults }).markup).not.toContain(
    '<script',
  );
});

test('any timeline is drawn inside its frame', () => {
  const ms = fc.double({ min: 0, max: 10_000, noNaN: true });
  const span = fc.tuple(ms, ms).map(([fromMs, untilMs]) => ({ fromMs, untilMs }));
  const step = fc.record({ ms, stock: fc.integer() });
  const node = fc.constantFrom('node-1', 'node-2', 'a node with a very long name indeed');
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
      for (const svg of drawn(timelineSchema.parse(timeline))) {
        const width = Number(svg.match(/viewBox="0 0 (\d+) /)?.[1]);
        expect(svg.replace(/<text.*?<\/text>|aria-label=".*?"/gs, '')).not.toMatch(/NaN|undefined|Infinity|="-/);
        const drawnBoxes = boxes(svg, 'inside', 'lease', 'overlap', 'joint', 'fault-span');
        expect(drawnBoxes.filter((box) => !(box.width > 0 && box.x + box.width <= width + 0.2))).toEqual([]);
        const drawnTexts = texts(svg, 'told', 'note', 'name', 'fault-label', 'time');
        expect(drawnTexts.filter(({ x }) => !(x <= width))).toEqual([]);
      }
    }),
    { seed: 1, numRuns: 100 },
  );
});
