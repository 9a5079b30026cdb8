// What happened to the sales of this node, kept in memory.

import type { SaleEvent } from './contract.ts';

export type History = ReturnType<typeof createHistory>;

/** The clock of the events, which all processes of this host share: monotonic, in milliseconds. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** So many times its capacity a history has, until it forgets the oldest. */
const MOST_OVER = 1.1;

/** Keeps the newest `capacity` events in memory, so that recording costs no Redis command; with 0 it keeps none. */
export function createHistory(node: string, capacity = 600_000) {
  let events: SaleEvent[] = [];
  /** How many events it has recorded. Each time that it is cleared counts as one. */
  let count = 0;
  let first = 0;
  const watchers = new Set<() => void>();

  /**
   * The events behind a cursor, or all, oldest first, and at most so many. A cursor is the count of then, so to keep one costs nothing.
   * `dropped`: how many of those behind it are forgotten. `cleared`: the history was cleared since, and these are from its new beginning on.
   */
  function read(cursor = first, most = Number.POSITIVE_INFINITY) {
    const wanted = Math.max(cursor, first);
    const from = Math.max(wanted, count - capacity);
    const next = Math.min(count, from + most);
    const oldest = count - events.length;
    return {
      events: events.slice(from - oldest, next - oldest),
      dropped: from - wanted,
      cleared: cursor < first,
      next,
    };
  }

  return {
    record(event: Omit<SaleEvent, 'at' | 'node'>) {
      if (capacity === 0) return;
      // Not at each event: to move all of them takes time.
      if (events.length > capacity * MOST_OVER) events = events.slice(-capacity);
      events.push({ at: now(), node, ...event });
      count += 1;
      for (const see of watchers) see();
    },
    /** Is told of a sale that goes on, of which nothing is kept: what follows from it is its work. */
    pass(_saleId: string) {},
    /** Calls `see` after each event. Returns what ends that. */
    watch(see: () => void): () => void {
      watchers.add(see);
      return () => void watchers.delete(see);
    },
    read,
    clear() {
      events = [];
      count += 1;
      first = count;
    },
  };
}
