// The one place that says how long a sale may live, and in how many buckets a stock may lie. Whatever waits for the end of
// sales takes its limit from here.

/** In how many buckets a stock lies unless a setting says otherwise. */
export const USUAL_BUCKETS = 4;
export const MOST_BUCKETS = 64;

/** How many permits a semaphore has unless a setting says otherwise. */
export const USUAL_PERMITS = 3;
export const MOST_PERMITS = 1_000;

/** How long a sale waits for its lock unless a setting says otherwise, in milliseconds. */
export const USUAL_WAIT_TIMEOUT_MS = 10_000;
/** The longest that a setting, or the lab, may say, in milliseconds. */
export const LONGEST_WAIT_TIMEOUT_MS = 600_000;
/** How long the servers may take for the steps of a sale besides the wait for its lock, in milliseconds. */
const STEPS_LIMIT_MS = 5_000;
/** How long a node may take to end when its sales have ended: for its locks, its connections and its last answers. */
const LAST_STEPS_MS = 5_000;

/** Until when a sale may put its unit back that waits for its lock so long at most: both in milliseconds, from its beginning. */
export const takingLimitMs = (waitTimeoutMs: number) => waitTimeoutMs + STEPS_LIMIT_MS;

/** How long a sale lives at most: one that could not write its order waits once more for the lock, to put the unit back. */
export const saleLifeMs = (waitTimeoutMs: number) => 2 * takingLimitMs(waitTimeoutMs);

/** How long a node that stops keeps idle connections open when it has drained: longer than nginx does (2 s). In milliseconds. */
export const IDLE_LIMIT_MS = 3_000;

/** How long a node may take to stop that still accepts connections for `drainMs`. */
export const stopLimitMs = (waitTimeoutMs: number, drainMs = 0) =>
  drainMs + IDLE_LIMIT_MS + saleLifeMs(waitTimeoutMs) + LAST_STEPS_MS;
