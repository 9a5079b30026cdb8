import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'renews only a key that has an end',
    from: 'lock',
    replace: [['redis.pexpire(key, renewedMs)', "redis.pexpire(key, renewedMs, 'XX')"]],
    fails: 'slow-holder',
    reason: 'are inside at the same time',
  },
  {
    what: 'writes its token into the key, if there is one',
    from: 'lock',
    replace: [
      [
        'await redis.pexpire(key, renewedMs).catch(() => 1)',
        "(await redis.set(key, ownerToken, 'PX', renewedMs, 'XX')) === 'OK' ? 1 : 0",
      ],
    ],
    fails: 'slow-holder',
    reason: 'are inside at the same time',
  },
  {
    what: 'looks whose lock it is after it has renewed it',
    from: 'lock',
    replace: [['if (renewed === 1) return;', 'if (renewed === 1 && (await redis.get(key)) === ownerToken) return;']],
    fails: 'slow-holder',
    reason: 'are inside at the same time',
  },
  {
    what: 'does not renew at all',
    from: 'lock',
    replace: [
      ['    watchdog = setInterval(renew, leaseMs / 3);', '    watchdog = setInterval(() => renew, leaseMs / 3);'],
    ],
    fails: 'long-sale',
    reason: 'A and B are inside at the same time',
  },
];
