// How much of a lease is left at a moment.

import type { LockView } from '../contract.ts';

/** What is left of a lease at `nowMs`, in milliseconds, on the clock on which it was seen. Undefined for a lock without an end. */
export function leaseLeft({ leftMs }: Pick<LockView, 'leftMs'>, seenAtMs: number, nowMs: number): number | undefined {
  return leftMs === undefined ? undefined : Math.max(0, leftMs - Math.max(0, nowMs - seenAtMs));
}

/** The part of a lease that is left, from 0 to 1. A lock without an end is always whole. */
export function leaseShare(leftMs: number | undefined, leaseMs: number): number {
  if (leftMs === undefined) return 1;
  return leaseMs > 0 ? Math.min(1, leftMs / leaseMs) : 0;
}

/** What is shown where nothing may move: whole seconds, rounded up. */
export function inSteps(leftMs: number | undefined): number | undefined {
  return leftMs === undefined ? undefined : Math.ceil(leftMs / 1000) * 1000;
}
