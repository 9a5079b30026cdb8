// The locks that the virtual world can carry, in three parts that take about as long: two workers share them.

/** The stages of the playing. */
export const stages = [
  '0-none',
  '1-in-process',
  '2-recursive-retry',
  '3-spin',
  '4-ttl',
  '5-owner-check',
  '6-lua-release',
  '7-reentrant',
  '8-auto-renew',
];

/** Other ways to wait for a lock, and to give it up. */
export const waiting = ['delete-if-equal', 'bounded', 'blocking', 'fair', 'cohort', 'combine', 'read-write'];

/** What the stock or several servers judge. */
export const judged = [
  'fenced-writes',
  'fenced',
  'buckets',
  'multi',
  'replicated',
  'redlock',
  'redis-atomic',
  'semaphore',
];
