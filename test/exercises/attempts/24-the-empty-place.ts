import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'takes out the sale that is first in the queue',
    from: 'solution',
    replace: [['redis.lrem(queue, 0, ownerToken)', 'redis.lpop(queue)']],
    fails: 'client-gone',
  },
  {
    what: 'gives up the lock when the wait is ended',
    from: 'solution',
    replace: [['await redis.lrem(queue, 0, ownerToken)', 'await releaseIfOwner(redis, [key], [ownerToken])']],
    fails: 'client-gone',
    reason: 'there is still the key lock:queue',
  },
  {
    what: 'lets the queue end a lease after the last try',
    from: 'lock',
    replace: [
      [
        '      // A buyer who gives up ends the wait: the sleep rejects.\n',
        '      await redis.pexpire(queue, leaseMs);\n',
      ],
    ],
    fails: 'client-gone',
    reason: 'there is still the key lock:queue',
  },
];
