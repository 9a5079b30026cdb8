/** What happened to one sale, and when. */
export interface SaleEvent {
  /** Milliseconds on the monotonic clock that all processes of this host share. */
  at: number;
  type: 'waiting' | 'entered' | 'began' | 'nested' | 'read' | 'conflict' | 'wrote' | 'left' | 'failed' | 'lease-lost';
  node: string;
  saleId: string;
  /** The stock that was read or written. */
  stock?: number;
  /** Why it failed: a problem code, or CLIENT_GONE. */
  code?: string;
  /** With LOCK_FAILED: what the lock did. */
  detail?: string;
}

export interface History {
  record(event: Omit<SaleEvent, 'at' | 'node'>): void;
  /** The events since the last clear, oldest first, and how many older ones the ring has dropped. */
  read(): { events: SaleEvent[]; dropped: number };
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
