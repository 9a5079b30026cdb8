import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Hold, holdsOf } from '../../../loadtest/evidence/history.ts';
import { countOverlaps, describeOverlap, type Overlap, overlapsBetween } from '../../../loadtest/evidence/overlaps.ts';
import type { SaleEvent } from '../../../services/inventory/lab/contract.ts';

const RUNS = { seed: 1, numRuns: 200 };
const NEVER = Number.POSITIVE_INFINITY;

const node = fc.constantFrom('node-1', 'node-2');
/** Few moments, so that many holds begin or end at the same one. Some end as they begin, some never. */
const span = fc.tuple(fc.nat(30), fc.oneof({ weight: 9, arbitrary: fc.nat(12) }, fc.constant(NEVER)));
/** Of some histories: a stock in one key has no bucket. */
const bucket = fc.option(fc.constantFrom(0, 1), { nil: undefined });
const holdsUpTo = (maxLength: number, inBucket: fc.Arbitrary<number | undefined> = fc.constant(undefined)) =>
  fc.array(fc.tuple(node, span, inBucket), { maxLength }).map((holds) =>
    holds.map(
      ([node, [entered, length], bucket], index): Hold => ({
        node,
        saleId: String(index).padStart(4, '0'),
        entered,
        left: entered + length,
        ...(bucket !== undefined && { bucket }),
      }),
    ),
  );
const anyHolds = fc.oneof(holdsUpTo(12), holdsUpTo(12, bucket));

/** The definition, pair by pair: some moment at which both are inside of one bucket. One who leaves at a moment is no longer inside. */
function overlapsByDefinition(holds: Hold[]): [string, string, number, number][] {
  return holds.flatMap((a, index) =>
    holds.slice(index + 1).flatMap((b): [string, string, number, number][] => {
      const [from, until] = [Math.max(a.entered, b.entered), Math.min(a.left, b.left)];
      return from < until && a.bucket === b.bucket ? [[a.saleId, b.saleId, from, until]] : [];
    }),
  );
}

/** What can be compared: who met is a pair without an order. */
const pairsOf = (overlaps: Overlap[]) =>
  overlaps
    .map(({ first, second, from, until }) => [...[first.saleId, second.saleId].sort(), from, until].join())
    .sort();

/** What the nodes would have recorded of the holds, in order. */
function eventsOf(holds: Hold[]): SaleEvent[] {
  return holds
    .flatMap(({ node, saleId, entered, left, bucket }): SaleEvent[] => [
      { at: entered, type: 'entered', node, saleId, bucket },
      ...(left < NEVER ? [{ at: left, type: 'left' as const, node, saleId }] : []),
    ])
    .sort((a, b) => a.at - b.at);
}

describe('overlaps: generated holds', () => {
  test('they are those of the definition, each with its whole length, in the order of entering, also when read from events', () => {
    fc.assert(
      fc.property(anyHolds, (holds) => {
        const before = structuredClone(holds);
        const overlaps = overlapsBetween(holds);
        const expected = overlapsByDefinition(holds);
        const isInOrder = ({ first, second, from }: Overlap, index: number) =>
          first.entered <= second.entered && from === second.entered && from >= (overlaps[index - 1]?.from ?? 0);
        expect(pairsOf(overlaps)).toEqual(expected.map((overlap) => overlap.join()).sort());
        expect(countOverlaps(holds)).toBe(expected.length);
        expect(overlaps.every(isInOrder)).toBe(true);
        expect(pairsOf(overlapsBetween(holdsOf(eventsOf(holds))))).toEqual(pairsOf(overlaps));
        expect(holds).toEqual(before);
      }),
      RUNS,
    );
  });
});

test('overlaps: a sale that enters one bucket after the other is inside of each for a time, and no longer', () => {
  const own = { node: 'node-1', saleId: '0001' };
  const events: SaleEvent[] = [
    { at: 1, type: 'waiting', ...own },
    { at: 2, type: 'entered', ...own, bucket: 0 },
    { at: 3, type: 'left', ...own, bucket: 0 },
    { at: 3, type: 'waiting', ...own },
    { at: 5, type: 'entered', ...own, bucket: 1 },
    { at: 6, type: 'left', ...own, bucket: 1 },
    // It was sold out after all, and nobody is asked for that.
    { at: 9, type: 'began', ...own },
    { at: 9, type: 'left', ...own },
  ];

  expect(holdsOf(events)).toEqual([
    { ...own, bucket: 0, entered: 2, left: 3 },
    { ...own, bucket: 1, entered: 5, left: 6 },
  ]);
  const [first, second] = holdsOf(events);
  const overlap = { first, second, from: 2, until: 3 } as Overlap;
  expect(describeOverlap(overlap, 0)).toContain('were both inside of bucket 0, from 0.002 s');
});

describe('overlaps: many holds', () => {
  test('a long queue takes a few looks at each hold, not one at each pair', () => {
    let looks = 0;
    const holds = Array.from({ length: 5_000 }, (_, index) => ({
      node: 'node-1',
      saleId: String(index),
      entered: index,
      // Each one meets the next one.
      get left() {
        looks += 1;
        return index + 1.5;
      },
    }));

    expect(overlapsBetween(holds)).toHaveLength(holds.length - 1);
    expect(looks).toBeLessThan(10 * holds.length);
  });
});

test.each<[string, Hold[], string]>([
  [
    'two that met',
    [hold('0001', 'node-1', 1010, 3510.4), hold('0002', 'node-2', 2020, 4000)],
    'from 1.020 s to 2.510 s',
  ],
  [
    'one that never left: until the other one did',
    [hold('0001', 'node-1', 1010, NEVER), hold('0002', 'node-2', 2020, 2500)],
    'from 1.020 s to 1.500 s',
  ],
  [
    'two that never left',
    [hold('0001', 'node-1', 1010, NEVER), hold('0002', 'node-2', 2020, NEVER)],
    'from 1.020 s on, and neither left',
  ],
])('overlaps, the sentence: %s', (_what, holds, when) => {
  expect(overlapsBetween(holds).map((overlap) => describeOverlap(overlap, 1000))).toEqual([
    `sale 0001 on node-1 and sale 0002 on node-2 were both inside, ${when}`,
  ]);
});

function hold(saleId: string, node: string, entered: number, left: number): Hold {
  return { saleId, node, entered, left };
}
