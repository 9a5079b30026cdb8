import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timelineSchema } from '../../../loadtest/evidence/results.ts';
import { type Fault, type LeaseSample, type TimelineParts, timelineOf } from '../../../loadtest/evidence/timeline.ts';
import { type Deed, deed } from '../../../loadtest/narration/faults.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';

/** When every drill here begins, on the shared clock. Moments below are milliseconds since then. */
const START = 5_000_000;
const DURATION_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

interface Sale {
  node?: string;
  id: string;
  asks: number;
  enters?: number;
  reads?: [ms: number, stock: number];
  writes?: [ms: number, stock: number];
  leaves?: number;
  fails?: number;
}

/** What the nodes would have recorded of these sales, in order. */
function eventsOf(...sales: Sale[]): SaleEvent[] {
  return sales
    .flatMap(({ node = 'node-1', id: saleId, asks, enters, reads, writes, leaves, fails }) => {
      const event = (type: SaleEvent['type'], ms?: number, stock?: number): SaleEvent[] =>
        ms === undefined ? [] : [{ at: START + ms, type, node, saleId, ...(stock !== undefined && { stock }) }];
      return [
        event('waiting', asks),
        event('entered', enters),
        event('read', ...(reads ?? [])),
        event('wrote', ...(writes ?? [])),
        event('left', leaves),
        event('failed', fails),
      ].flat();
    })
    .sort((a, b) => a.at - b.at);
}

/** What was seen under the lock's key, every 10 ms from one moment to another; `ttl` is what it had to live at first. */
function seen(owner: string | undefined, fromMs: number, untilMs: number, ttl = NEVER): LeaseSample[] {
  const samples: LeaseSample[] = [];
  for (let ms = fromMs; ms <= untilMs; ms += 10) {
    samples.push({ at: START + ms, ttlMs: ttl - (ms - fromMs), ...(owner !== undefined && { owner }) });
  }
  return samples;
}

/** Tokens that name a sale, such as `node-1:0001`; `held` names none. */
const ownerOf: TimelineParts['ownerOf'] = (token) => {
  const [node = '', saleId] = token.split(':');
  return saleId === undefined ? undefined : { node, saleId };
};

function draw(events: SaleEvent[], more: Partial<TimelineParts> = {}) {
  return timelineOf({ from: START, until: START + DURATION_MS, events, samples: [], ownerOf, faults: [], ...more });
}

const fault = (what: Deed, from: number, more: Partial<Fault> = {}): Fault => ({
  what,
  from: START + from,
  ...more,
});

describe('timeline: lanes', () => {
  test('a sale: when it asked, was inside, read, wrote and left, in milliseconds since the drill began', () => {
    const sale: Sale = { id: '0001', asks: 10, enters: 20, reads: [30, 100], writes: [40, 99], leaves: 50 };
    expect(draw(eventsOf(sale))).toEqual({
      durationMs: DURATION_MS,
      lanes: [
        {
          node: 'node-1',
          saleId: '0001',
          askedMs: 10,
          inside: { fromMs: 20, untilMs: 50 },
          read: { ms: 30, stock: 100 },
          wrote: { ms: 40, stock: 99 },
          endedMs: 50,
          leases: [],
        },
      ],
      moreLanes: 0,
      faults: [],
      overlaps: [],
    });
  });

  test('a node that died counts its sales from 1 again: each has a lane of its own, and the dead ones have ended', () => {
    const before = eventsOf({ id: '0001', asks: 10, enters: 20, reads: [25, 100] }, { id: '0002', asks: 15 });
    const after = eventsOf({ id: '0001', asks: 300, enters: 310, reads: [315, 99], leaves: 330 });
    const { lanes, overlaps } = draw([...before, ...after], { deaths: [{ node: 'node-1', at: START + 200 }] });
    expect(lanes).toEqual([
      expect.objectContaining({ saleId: '0001', inside: { fromMs: 20, untilMs: 200 }, read: { ms: 25, stock: 100 } }),
      { node: 'node-1', saleId: '0002', askedMs: 15, endedMs: 200, leases: [] },
      expect.objectContaining({ saleId: '0001', inside: { fromMs: 310, untilMs: 330 }, read: { ms: 315, stock: 99 } }),
    ]);
    expect(overlaps).toEqual([]);
  });
});

const turns = (count: number): Sale[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index).padStart(4, '0'),
    asks: 10 * index,
    enters: 10 * index + 1,
    leaves: 10 * index + 9,
  }));
const idsOf = ({ lanes }: ReturnType<typeof draw>) => lanes.map(({ saleId }) => saleId);

test('timeline: of a long list 8 are drawn: those that met first, those under way at the edges of a fault, then the first', () => {
  const sales = turns(30);
  // It stays until the next one is inside.
  (sales[20] as Sale).leaves = 215;
  const timeline = draw(eventsOf(...sales), { faults: [fault(deed('Redis killed'), 205, { until: START + 255 })] });
  expect(idsOf(timeline)).toEqual(['0000', '0001', '0002', '0003', '0004', '0020', '0021', '0025']);
  expect(timeline.moreLanes).toBe(22);
  expect(timeline.overlaps).toEqual([{ fromMs: 211, untilMs: 215, lanes: [5, 6] }]);
  expect(draw(eventsOf(...turns(8))).moreLanes).toBe(0);
});

describe('timeline: leases', () => {
  const first: Sale = { id: '0001', asks: 10, enters: 20, leaves: 100 };
  const second: Sale = { node: 'node-2', id: '0001', asks: 15, enters: 120, leaves: 200 };
  const overlapping = eventsOf({ ...first, leaves: 300 }, second);
  const gone = (fromMs: number, untilMs: number) => seen(undefined, fromMs, untilMs);
  const [own, others] = ['node-1:0001', 'node-2:0001'];

  test.each<[string, SaleEvent[], LeaseSample[], string[]]>([
    [
      'a token that names a sale: it is that sale’s, also where another entered last',
      overlapping,
      [...seen(own, 20, 150), ...seen(others, 160, 200), ...gone(210, 300)],
      ['20-160', '160-210'],
    ],
    [
      'a token that names no sale: it is that of the one who entered last',
      eventsOf(first, second),
      [...seen('held', 20, 90), ...gone(100, 110), ...seen('held', 120, 200), ...gone(210, 220)],
      ['20-100', '120-210'],
    ],
    [
      'a token that names no sale comes back: it is that of the one who enters next, and not of the dead one before',
      overlapping,
      [...seen('held', 20, 90), ...gone(100, 110), ...seen('held', 112, 200), ...gone(210, 220)],
      ['20-100', '112-210'],
    ],
    [
      'while nobody looked, it lasted no longer than it was seen to have left',
      eventsOf({ ...first, leaves: 450 }),
      [...seen('held', 20, 20, 50), ...gone(400, 400)],
      ['20-70'],
    ],
    [
      'a renewed lease is one lease',
      eventsOf(first),
      [...seen(own, 20, 50, 60), ...seen(own, 60, 90, 60), ...gone(100, 100)],
      ['20-100'],
    ],
  ])('%s', (_what, events, samples, leases) => {
    const drawn = draw(events, { samples }).lanes;
    expect(drawn.map((lane) => lane.leases.map(({ fromMs, untilMs }) => `${fromMs}-${untilMs}`).join(' '))).toEqual(
      leases,
    );
  });
});

test('timeline: whatever the history, it lies within the drill, and each sale is a lane or counted as missing', () => {
  const ms = fc.integer({ min: -200, max: 1200 });
  const sale = fc.record({
    node: fc.constantFrom('node-1', 'node-2'),
    asks: ms,
    waits: fc.nat(300),
    inside: fc.nat(300),
  });
  const histories = fc.array(sale, { maxLength: 20 }).map((sales) =>
    sales.map(({ node, asks, waits, inside }, index): Sale => {
      const enters = asks + waits;
      const whole: Sale = { node, id: String(index), asks, enters, reads: [enters, 9], leaves: enters + inside };
      // Every fifth one never enters, and every seventh never leaves.
      if (index % 5 === 4) return { node, id: whole.id, asks };
      return index % 7 === 6 ? { node, id: whole.id, asks, enters } : whole;
    }),
  );
  fc.assert(
    fc.property(histories, ms, (sales, from) => {
      const faults = [fault(deed('Redis killed'), from, { until: START + from + 300 })];
      const timeline = draw(eventsOf(...sales), { samples: seen('held', from, from + 200, 300), faults });

      expect(timelineSchema.parse(timeline)).toEqual(timeline);
      expect(timeline.lanes.length + timeline.moreLanes).toBe(sales.length);
      expect(timeline.lanes.length).toBeLessThanOrEqual(8);
      const moments = [...JSON.stringify(timeline).matchAll(/"\w*[mM]s":(-?\d+)/g)].map(([, at]) => Number(at));
      expect(moments.filter((at) => at < 0 || at > DURATION_MS)).toEqual([]);
      const isDrawn = (place: number) => timeline.lanes[place]?.inside !== undefined;
      expect(timeline.overlaps.filter(({ lanes: [a, b] }) => a === b || !isDrawn(a) || !isDrawn(b))).toEqual([]);
    }),
    { seed: 1, numRuns: 200 },
  );
});
