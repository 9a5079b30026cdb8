// The lease as a bar that runs out.

import { html } from 'htm/preact';
import type { LockView } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { inSteps, leaseLeft, leaseShare } from './lease.ts';
import { prefersStillness, useTicks } from './measured.ts';
import { isSaved, pageClock } from './store.ts';
import { textMark } from './text-mark.ts';
import { narrowed } from './text-width.ts';

const TICK_MS = 100;
const STEP_MS = 1_000;
/** The room for the seconds beside the bar. */
const TEXT_WIDTH = 76;
const GAP = 6;

interface LeaseBarProps {
  lock: LockView;
  seenAtMs: number;
  x: number;
  y: number;
  width: number;
}

export function LeaseBar({ lock, seenAtMs, x, y, width }: LeaseBarProps) {
  const isStill = prefersStillness();
  const exact = leaseLeft(lock, seenAtMs, pageClock());
  // A saved run is drawn anew at each of its moments.
  useTicks(isStill ? STEP_MS : TICK_MS, !isSaved.value && (exact ?? 0) > 0);
  const left = isStill ? inSteps(exact) : exact;
  const room = width - TEXT_WIDTH;
  const words =
    left === undefined
      ? texts.picture.leaseWithoutEnd
      : left === 0
        ? texts.picture.leaseOver
        : texts.picture.leaseLeft(left);
  return html`<g class=${`lease-bar ${left === undefined ? 'without-end' : ''}`}>
    <rect class="track" x=${x} y=${y} width=${room} height="16" />
    <rect class="left" x=${x} y=${y} width=${room * leaseShare(left, lock.leaseMs)} height="16" />
    ${textMark('', x + width, y + 14, narrowed(words, TEXT_WIDTH - GAP, 18), 'end')}
  </g>`;
}
