import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'sets the end in a second command',
    from: 'lock',
    replace: [
      ['({ redis, key, retryDelayMs })', '({ redis, key, leaseMs, retryDelayMs })'],
      ['{ signal });\n    }\n', '{ signal });\n    }\n    await redis.pexpire(key, leaseMs);\n'],
    ],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
  {
    what: 'counts the lease in seconds',
    from: 'solution',
    replace: [["'PX', leaseMs", "'EX', leaseMs"]],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
  {
    what: 'begins the lease anew at each try of a waiter',
    from: 'solution',
    replace: [['      await sleep(', '      await redis.pexpire(key, leaseMs);\n      await sleep(']],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
  {
    what: 'sets the key whether it is there or not',
    from: 'solution',
    replace: [["'PX', leaseMs, 'NX'", "'PX', leaseMs"]],
    fails: 'plain',
    reason: 'inside at the same time',
  },
];
