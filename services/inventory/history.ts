import type { LabHistory, SaleEvent } from './lab/contract.ts';

export interface History {
  record(event: Omit<SaleEvent, 'at' | 'node'>): void;
  /** The events since the last clear, oldest first, and how many older ones the ring has dropped. */
  read(): LabHistory;
  clear(): void;
}

/** Keeps the newest `capacity` events in memory, so that recording costs no Redis command. */
export function createHistory(node: string, capacity = 600_000): History {
  let events: SaleEvent[] = [];
  let count = 0;

  return {
    record(event) {
      events[count % capacity] = { at: Number(process.hrtime.bigint()) / 1e6, node, ...event };
      count += 1;
    },
    read() {
      const oldest = count > capacity ? count % capacity : 0;
      return {
        events: [...events.slice(oldest), ...events.slice(0, oldest)],
        dropped: Math.max(0, count - capacity),
      };
    },
    clear() {
      events = [];
      count = 0;
    },
  };
}
