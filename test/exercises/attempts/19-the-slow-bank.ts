import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'sets the pace to a third of the new lease, by hand',
    from: 'lock',
    replace: [['RENEW_EVERY_MS = 10_000', 'RENEW_EVERY_MS = 2_700']],
    fails: 'long-sale',
    reason: 'A and B are inside at the same time',
  },
  {
    what: 'takes the larger of the two times',
    from: 'lock',
    replace: [['setInterval(renew, RENEW_EVERY_MS)', 'setInterval(renew, Math.max(RENEW_EVERY_MS, leaseMs / 3))']],
    fails: 'long-sale',
    reason: 'A and B are inside at the same time',
  },
  {
    what: 'renews after a third of the lease, once',
    from: 'solution',
    replace: [['setInterval(renew', 'setTimeout(renew']],
    fails: 'long-sale',
    reason: 'A and B are inside at the same time',
  },
];
