import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'keeps the lock at a hold count of 0 as well',
    from: 'lock',
    replace: [['if hold_count > 1 then', 'if hold_count >= 0 then']],
    fails: 'plain',
    reason: 'there is still the key lock',
  },
  {
    what: 'deletes the lock at a hold count of exactly 1',
    from: 'lock',
    replace: [['if hold_count > 1 then', 'if hold_count ~= 1 then']],
    fails: 'plain',
    reason: 'there is still the key lock',
  },
  {
    what: 'takes out the holder, and counts who is left',
    from: 'solution',
    replace: [
      [
        "local hold_count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)\n",
        "redis.call('HDEL', KEYS[1], ARGV[1])\nlocal hold_count = redis.call('HLEN', KEYS[1])\n",
      ],
    ],
    fails: 'nested-call',
    reason: 'are inside at the same time',
  },
];
