// For how long nobody held a lock although somebody waited for it.

import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { keyOf } from './history.ts';

/** A stretch of time on the shared clock, in milliseconds. */
export interface Span {
  from: number;
  until: number;
}

/** When nobody was inside although somebody waited, as the nodes recorded it. A sale without a lock is inside from its beginning on. */
export function freeWhileWanted(events: SaleEvent[]): Span[] {
  const inside = new Set<string>();
  const waiting = new Set<string>();
  const spans: Span[] = [];
  let freeSince: number | undefined;
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    const sale = keyOf(event);
    if (event.type === 'waiting') waiting.add(sale);
    if (event.type === 'entered' || event.type === 'began') inside.add(sale);
    if (event.type === 'left' || event.type === 'failed') inside.delete(sale);
    if (event.type === 'failed' || inside.has(sale)) waiting.delete(sale);

    const isFree = inside.size === 0 && waiting.size > 0;
    if (isFree) freeSince ??= event.at;
    else if (freeSince !== undefined) {
      if (event.at > freeSince) spans.push({ from: freeSince, until: event.at });
      freeSince = undefined;
    }
  }
  return spans;
}

/** How long the longest of the spans is, without the time in which nothing at all went on, in milliseconds; 0 when there is none. */
export function longestWithout(standstills: Span[], spans: Span[]): number {
  const without = ({ from, until }: Span) => {
    const stoodStill = standstills.map((still) => Math.min(until, still.until) - Math.max(from, still.from));
    return until - from - stoodStill.reduce((sum, ms) => sum + Math.max(0, ms), 0);
  };
  return spans.reduce((longest, span) => Math.max(longest, without(span)), 0);
}
