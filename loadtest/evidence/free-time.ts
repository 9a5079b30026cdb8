// Finds how long nobody held a lock although sales waited for it.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { countOf, formatSeconds } from '../narration/numbers.ts';
import { keyOf, nameOf, type SaleName } from './history.ts';

/** A time span on the shared clock, in milliseconds. */
export interface Span {
  from: number;
  until: number;
}

/** A time span in which nobody was inside although sales waited. */
export interface FreeSpan extends Span {
  /** Those who waited when it began, the one that had waited longest first. */
  waiters: SaleName[];
}

/** The time spans in which nobody was inside although sales waited, as the nodes recorded them. A sale without a lock is inside from its start. */
export function freeWhileWanted(events: SaleEvent[]): FreeSpan[] {
  const inside = new Set<string>();
  const waiting = new Map<string, SaleName>();
  const spans: FreeSpan[] = [];
  let free: Omit<FreeSpan, 'until'> | undefined;
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    const sale = keyOf(event);
    if (event.type === 'waiting') waiting.set(sale, { node: event.node, saleId: event.saleId });
    if (event.type === 'entered' || event.type === 'began') inside.add(sale);
    if (event.type === 'left' || event.type === 'failed') inside.delete(sale);
    if (event.type === 'failed' || inside.has(sale)) waiting.delete(sale);

    const isFree = inside.size === 0 && waiting.size > 0;
    if (isFree) free ??= { from: event.at, waiters: [...waiting.values()] };
    else if (free !== undefined) {
      if (event.at > free.from) spans.push({ ...free, until: event.at });
      free = undefined;
    }
  }
  return spans;
}

/** The longest of the spans, and its length without the time in which nothing ran at all, in milliseconds. */
export function longestOf<Each extends Span>(spans: Each[], standstills: Span[]): { span?: Each; ms: number } {
  const without = ({ from, until }: Span) => {
    const stoodStill = standstills.map((still) => Math.min(until, still.until) - Math.max(from, still.from));
    return until - from - stoodStill.reduce((sum, ms) => sum + Math.max(0, ms), 0);
  };
  let longest: { span?: Each; ms: number } = { ms: 0 };
  for (const span of spans) {
    const ms = without(span);
    if (ms > longest.ms) longest = { span, ms };
  }
  return longest;
}

/** "From 1.020 s to 2.510 s nobody was inside, although sale 0012 on node-1 and 99 other sales waited.": seconds since `startedAt`. */
export function describeFree({ from, until, waiters }: FreeSpan, startedAt: number): string {
  const [first, ...others] = waiters;
  const who = first === undefined ? 'sales' : nameOf(first);
  const and = others.length > 0 ? ` and ${countOf(others.length, 'other sale')}` : '';
  return `From ${formatSeconds(from - startedAt)} to ${formatSeconds(until - startedAt)} nobody was inside, although ${who}${and} waited.`;
}
