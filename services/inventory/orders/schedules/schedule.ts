// The words of every schedule: what comes by itself, and when.

/** A tick that has come by itself: when it was due, and when it began, in milliseconds since 1970. */
export interface ScheduledTick {
  dueAt: number;
  beganAt: number;
}

export interface Schedule {
  /** When the next tick is due: ISO 8601, in UTC. Null when none is, or when that depends on one that is under way. */
  next(): string | null;
  /** No tick begins any more. One that is under way goes on. */
  stop(): void;
}
