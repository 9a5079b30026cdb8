// Which holders were inside at the same moment.

import { formatSeconds } from '../narration/numbers.ts';
import { type Hold, nameOf } from './history.ts';

/** Two holders that were inside at the same moment, and from when until when. */
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

/** How many pairs of holds overlap: there may be more than memory has room for. */
export function countOverlaps(holds: Hold[]): number {
  let count = 0;
  for (const _ of eachOverlap(holds)) count += 1;
  return count;
}

/** "sale 0001 on node-1 and sale 0002 on node-2 were both inside, from 1.02 s to 2.51 s": seconds since `startedAt`. */
export function describeOverlap({ first, second, from, until }: Overlap, startedAt: number): string {
  const time = until === Number.POSITIVE_INFINITY ? 'on, and neither left' : `to ${formatSeconds(until - startedAt)}`;
  const where = first.bucket === undefined ? 'inside' : `inside of bucket ${first.bucket}`;
  return `${nameOf(first)} and ${nameOf(second)} were both ${where}, from ${formatSeconds(from - startedAt)} ${time}`;
}
