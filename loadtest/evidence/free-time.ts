// Finds how long nobody held a lock although sales waited for it.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { type Sight, seen } from '../narration/evidence.ts';
import { keyOf, type SaleName } from './history.ts';

/** A stretch of time on the shared clock, in milliseconds. */
export interface Span {
  from: number;
  until: number;
}

/** A stretch of time in which nobody was inside although somebody waited. */
export interface FreeSpan extends Span {
  /** Those who waited when it began, the one that had waited longest first. */
  waiters: SaleName[];
}

/** When nobody was inside although somebody waited, as the nodes recorded it. A sale without a lock is inside from its beginning on. */
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

/** The longest of the spans, and how long it is without the time in which nothing at all went on, in milliseconds. */
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

/** That nobody was inside although some waited, in milliseconds since `startedAt`. */
export function freeSeen({ from, until, waiters: [first, ...others] }: FreeSpan, startedAt: number): Sight {
  const span = { fromMs: from - startedAt, untilMs: until - startedAt };
  return seen('nobody was inside', { ...span, first, others: others.length });
}
