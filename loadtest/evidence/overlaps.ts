// Which holders were inside at the same moment.

import { type Hold, nameOf } from './history.ts';
import { formatSeconds } from './numbers.ts';

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
export function overlapsBetween(holds: Hold[]): Overlap[] {
  const overlaps: Overlap[] = [];
  let inside: Hold[] = [];
  for (const second of byEntering(holds)) {
    // Each one looked at here overlaps the second, or has left and is not looked at again: n log n steps, and one for each overlap.
    inside = inside.filter(({ left }) => left > second.entered);
    for (const first of inside) {
      if (first.bucket !== second.bucket) continue;
      overlaps.push({ first, second, from: second.entered, until: Math.min(first.left, second.left) });
    }
    inside.push(second);
  }
  return overlaps;
}

/** How many pairs of holds overlap. Takes n log n steps, however many pairs there are. */
export function countOverlaps(holds: Hold[]): number {
  const buckets = new Set(holds.map(({ bucket }) => bucket));
  const counts = [...buckets].map((one) => countInBucket(holds.filter(({ bucket }) => bucket === one)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function countInBucket(holds: Hold[]): number {
  const entering = byEntering(holds);
  const ends = entering.map(({ left }) => left).sort((a, b) => a - b);
  let overlaps = 0;
  let ended = 0;
  entering.forEach(({ entered }, alreadyEntered) => {
    while ((ends[ended] ?? Number.POSITIVE_INFINITY) <= entered) ended += 1;
    overlaps += alreadyEntered - ended;
  });
  return overlaps;
}

/** "sale 0001 on node-1 and sale 0002 on node-2 were both inside, from 1.02 s to 2.51 s": seconds since `startedAt`. */
export function describeOverlap({ first, second, from, until }: Overlap, startedAt: number): string {
  const time = until === Number.POSITIVE_INFINITY ? 'on, and neither left' : `to ${formatSeconds(until - startedAt)}`;
  const where = first.bucket === undefined ? 'inside' : `inside of bucket ${first.bucket}`;
  return `${nameOf(first)} and ${nameOf(second)} were both ${where}, from ${formatSeconds(from - startedAt)} ${time}`;
}

/** The holds that lasted, by the order of entering. */
function byEntering(holds: Hold[]): Hold[] {
  return holds.filter(({ entered, left }) => left > entered).sort((a, b) => a.entered - b.entered);
}
