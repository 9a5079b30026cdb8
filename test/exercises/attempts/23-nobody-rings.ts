import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'asks to listen before the first try',
    from: 'lock',
    replace: [
      ['    if (await tryOnce()) return;\n', ''],
      ['    try {\n      do {\n', '    try {\n      if (await tryOnce()) return;\n      do {\n'],
    ],
    fails: 'lost-wakeup',
    reason: 'waits, and the lock is free',
  },
  {
    what: 'tries once more when it has asked to listen',
    from: 'lock',
    replace: [['    try {\n      do {\n', '    try {\n      if (await tryOnce()) return;\n      do {\n']],
    fails: 'lost-wakeup',
    reason: 'waits, and the lock is free',
  },
  {
    what: 'publishes the release after the key is deleted',
    from: 'lock',
    replace: [
      [
        "redis.call('PUBLISH', ARGV[2], 'released')\nreturn redis.call('DEL', KEYS[1])`",
        "redis.call('DEL', KEYS[1])\nredis.call('PUBLISH', ARGV[2], 'released')\nreturn 1`",
      ],
    ],
    fails: 'lost-wakeup',
    reason: 'waits, and the lock is free',
  },
];
