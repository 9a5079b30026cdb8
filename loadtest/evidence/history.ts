// The history that the nodes recorded: which sale was inside, from when until when, and which holders overlapped.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { type Sight, seen } from '../narration/evidence.ts';
import type { SaleEnd } from './answers.ts';

/** A sale. Two nodes may use the same id. */
export interface SaleName {
  node: string;
  saleId: string;
}

/** The time that a sale spends in the critical section. Ends at `Infinity` for a holder that never left. */
export interface Hold extends SaleName {
  entered: number;
  left: number;
  /** Which bucket of the stock, where it lies in several: holders of two of them may be inside at once. */
  bucket?: number | undefined;
}

/** What a step-by-step drill leaves behind. */
export interface StepHistory {
  ends: SaleEnd[];
  initialStock: number;
  finalStock: number;
  events: SaleEvent[];
  /** When the drill began, on the shared clock. */
  startedAt: number;
}

/** When each holder was inside, by the order of entering. A sale that enters again without having left counts from then on. */
export function holdsOf(events: SaleEvent[]): Hold[] {
  const holds: Hold[] = [];
  const open = new Map<string, Hold>();
  for (const { type, node, saleId, at, bucket } of events) {
    const key = keyOf({ node, saleId });
    const hold = open.get(key);
    if (type === 'entered') {
      open.set(key, { node, saleId, entered: at, left: Number.POSITIVE_INFINITY, bucket });
    }
    if (type === 'left' && hold) {
      open.delete(key);
      holds.push({ ...hold, left: at });
    }
  }
  return [...holds, ...open.values()].sort((a, b) => a.entered - b.entered);
}

/** When each sale was in progress, from its first read of the stock: under a lock or, beyond stage 8, without one. */
export function spansOf(events: SaleEvent[]): Hold[] {
  return holdsOf(events.map((event) => (event.type === 'began' ? { ...event, type: 'entered' } : event)));
}

/** A key for each sale, for lookups. */
export const keyOf = ({ node, saleId }: SaleName) => `${node} ${saleId}`;

/** Its name alone. */
export const saleNameOf = ({ node, saleId }: SaleName): SaleName => ({ node, saleId });

export const isSame = (a: SaleName, b: SaleName) => a.node === b.node && a.saleId === b.saleId;

/** Two holders that were inside at the same moment, from when until when. */
export interface Overlap {
  first: Hold;
  second: Hold;
  from: number;
  until: number;
}

/**
 * Every pair of holds that overlap, by the moment at which the second one entered. One that begins at the very moment another
 * ends does not overlap it, nor does one of another bucket.
 */
export const overlapsBetween = (holds: Hold[]): Overlap[] => [...eachOverlap(holds)];

function* eachOverlap(holds: Hold[]): Generator<Overlap> {
  let inside: Hold[] = [];
  const lasted = holds.filter(({ entered, left }) => left > entered).sort((a, b) => a.entered - b.entered);
  for (const second of lasted) {
    // Each one looked at here overlaps the second, or has left and is not looked at again: n log n steps, and one for each overlap.
    inside = inside.filter(({ left }) => left > second.entered);
    for (const first of inside) {
      if (first.bucket !== second.bucket) continue;
      yield { first, second, from: second.entered, until: Math.min(first.left, second.left) };
    }
    inside.push(second);
  }
}

/** How many pairs of holds overlap: there may be more than fit in memory. */
export function countOverlaps(holds: Hold[]): number {
  let count = 0;
  for (const _ of eachOverlap(holds)) count += 1;
  return count;
}

/** That both were inside, in milliseconds since `startedAt`. */
export function overlapSeen({ first, second, from, until }: Overlap, startedAt: number): Sight {
  return seen('two were inside', {
    first: saleNameOf(first),
    second: saleNameOf(second),
    bucket: first.bucket,
    fromMs: from - startedAt,
    untilMs: until === Number.POSITIVE_INFINITY ? undefined : until - startedAt,
  });
}
