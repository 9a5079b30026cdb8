// The limits of a sale's lifetime and of buckets and permits, in one place. Everything that waits for sales to end uses them.

/** The default number of buckets. */
export const USUAL_BUCKETS = 4;
export const MOST_BUCKETS = 64;

/** The default number of a semaphore's permits. */
export const USUAL_PERMITS = 3;
export const MOST_PERMITS = 1_000;

/** The default time that a sale waits for its lock, in milliseconds. */
export const USUAL_WAIT_TIMEOUT_MS = 10_000;
/** The longest wait that a setting or the admin API accepts, in milliseconds. */
export const LONGEST_WAIT_TIMEOUT_MS = 600_000;
/** How long the servers may take for a sale's steps, apart from the wait for its lock, in milliseconds. */
const STEPS_LIMIT_MS = 5_000;
/** How long a node may take to exit after its sales have ended: for its locks, connections and last responses. */
const LAST_STEPS_MS = 5_000;

/** How long after its start a sale with this longest wait may still return its unit, in milliseconds. */
export const takingLimitMs = (waitTimeoutMs: number) => waitTimeoutMs + STEPS_LIMIT_MS;

/** A sale's longest lifetime: if it could not write its order, it waits for the lock again to return the unit. */
export const saleLifeMs = (waitTimeoutMs: number) => 2 * takingLimitMs(waitTimeoutMs);

/** How long a stopping node keeps idle connections open after draining, in milliseconds: longer than nginx does (2 s). */
export const IDLE_LIMIT_MS = 3_000;

/** How long a node may take to stop if it still accepts connections for `drainMs`. */
export const stopLimitMs = (waitTimeoutMs: number, drainMs = 0) =>
  drainMs + IDLE_LIMIT_MS + saleLifeMs(waitTimeoutMs) + LAST_STEPS_MS;
