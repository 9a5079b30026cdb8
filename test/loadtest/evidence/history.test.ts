import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countOverlaps,
  type Hold,
  holdsOf,
  type Overlap,
  overlapsBetween,
} from '../../../loadtest/evidence/history.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** Few moments, so that many holds begin or end at the same one. Some end as they begin, some never. */
const hold = fc.record({
  node: fc.constantFrom('node-1', 'node-2'),
  entered: fc.nat(30),
  length: fc.oneof({ weight: 9, arbitrary: fc.nat(12) }, fc.constant(NEVER)),
  // A stock in one key has no bucket.
  bucket: fc.constantFrom(undefined, undefined, 0, 1),
});
const manyHolds = fc.array(hold, { maxLength: 12 }).map((holds) =>
  holds.map(
    ({ node, entered, length, bucket }, index): Hold => ({
      ...{ node, saleId: String(index), entered, left: entered + length },
      ...(bucket !== undefined && { bucket }),
    }),
  ),
);

/** The definition, pair by pair: some moment at which both are inside of one bucket. One who leaves at a moment is no longer inside. */
function overlapsByDefinition(holds: Hold[]): string[] {
  return holds.flatMap((a, index) =>
    holds.slice(index + 1).flatMap((b) => {
      const [from, until] = [Math.max(a.entered, b.entered), Math.min(a.left, b.left)];
      return from < until && a.bucket === b.bucket ? [[a.saleId, b.saleId, from, until].join()] : [];
    }),
  );
}

/** What can be compared: who met is a pair without an order. */
const pairsOf = (overlaps: Overlap[]) =>
  overlaps.map(({ first, second, from, until }) =>
    [...[first.saleId, second.saleId].sort((a, b) => Number(a) - Number(b)), from, until].join(),
  );

/** What the nodes would have recorded of the holds, in order. */
function eventsOf(holds: Hold[]): SaleEvent[] {
  return holds
    .flatMap(({ node, saleId, entered, left, bucket }): SaleEvent[] => [
      { at: entered, type: 'entered', node, saleId, bucket },
      ...(left < NEVER ? [{ at: left, type: 'left' as const, node, saleId }] : []),
    ])
    .sort((a, b) => a.at - b.at);
}

test('overlaps: those of the definition, in the order of entering, also when the holds are read from events', () => {
  fc.assert(
    fc.property(manyHolds, (holds) => {
      const overlaps = overlapsBetween(holds);
      const expected = overlapsByDefinition(holds).sort();
      expect(pairsOf(overlaps).sort()).toEqual(expected);
      expect(pairsOf(overlapsBetween(holdsOf(eventsOf(holds)))).sort()).toEqual(expected);
      expect(countOverlaps(holds)).toBe(expected.length);
      const starts = overlaps.map(({ from }) => from);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    }),
    { seed: 1, numRuns: 200 },
  );
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
});

test('overlaps: a long queue takes a few looks at each hold, not one at each pair', () => {
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
