import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'never ends its timer',
    from: 'solution',
    replace: [['    if (holdCount === 0) clearInterval(watchdog);\n', '']],
    fails: 'plain',
    reason: 'has a timer that still fires',
  },
  {
    what: 'renews once',
    from: 'solution',
    replace: [['watchdog = setInterval(renew', 'watchdog = setTimeout(renew']],
    fails: 'long-sale',
    reason: 'inside at the same time',
  },
  {
    what: 'renews once a lease, which is too late each time',
    from: 'solution',
    replace: [['leaseMs / 3', 'leaseMs + 50']],
    fails: 'long-sale',
    reason: 'inside at the same time',
  },
  {
    what: 'takes a lease ten times as long',
    from: 'lock',
    replace: [
      [
        'while ((await acquireReentrant(redis, [key], [ownerToken, leaseMs]))',
        'while ((await acquireReentrant(redis, [key], [ownerToken, 10 * leaseMs]))',
      ],
    ],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
];
