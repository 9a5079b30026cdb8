// What happened to the sales of this node, kept in memory.

import type { LabHistory, SaleEvent } from './lab/contract.ts';

export interface History {
  record(event: Omit<SaleEvent, 'at' | 'node'>): void;
  /** The events since the last clear, oldest first, and how many older ones the ring has dropped. */
  read(): LabHistory;
  /** The place before the first event since the last clear. */
  start(): Cursor;
  /** The events behind the cursor, oldest first, and at most so many of them. */
  readBehind(cursor: Cursor, most: number): Excerpt;
  clear(): void;
}

/** A place in the history, to read on from. To keep one costs the history nothing. */
export interface Cursor {
  /** How often the history had been cleared by then. */
  clears: number;
  /** How many events it had recorded since. */
  count: number;
}

/** What is behind a cursor. */
export interface Excerpt extends LabHistory {
  /** The history was cleared since: these are the events from its new beginning on. */
  cleared: boolean;
  /** Where to read on. */
  next: Cursor;
  /** There are more events to read from there. */
  hasMore: boolean;
}

/** The clock of the events, which all processes of this host share: monotonic, in milliseconds. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Keeps the newest `capacity` events in memory, so that recording costs no Redis command; with 0 it keeps none. */
export function createHistory(node: string, capacity = 600_000): History {
  let events: SaleEvent[] = [];
  let count = 0;
  let clears = 0;

  /** The events from one place to the other, both counted since the last clear, none of them dropped yet. */
  function slice(from: number, until: number): SaleEvent[] {
    const start = from % capacity;
    const toEnd = events.slice(start, start + until - from);
    return [...toEnd, ...events.slice(0, until - from - toEnd.length)];
  }

  return {
    record(event) {
      if (capacity === 0) return;
      events[count % capacity] = { at: now(), node, ...event };
      count += 1;
    },
    read() {
      const dropped = Math.max(0, count - capacity);
      return { events: slice(dropped, count), dropped };
    },
    start: () => ({ clears, count: 0 }),
    readBehind(cursor, most) {
      const cleared = cursor.clears !== clears;
      const wanted = cleared ? 0 : cursor.count;
      const first = Math.max(wanted, count - capacity);
      const last = Math.min(count, first + most);
      return {
        events: slice(first, last),
        dropped: first - wanted,
        cleared,
        next: { clears, count: last },
        hasMore: last < count,
      };
    },
    clear() {
      events = [];
      count = 0;
      clears += 1;
    },
  };
}
