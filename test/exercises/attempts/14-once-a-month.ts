import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'looks twice',
    from: 'lock',
    replace: [['if (!(await isOurs()))', 'if (!(await isOurs()) || !(await isOurs()))']],
    fails: 'late-release',
    reason: 'changes the lock of',
  },
  {
    what: 'looks how much of the lease is left as well',
    from: 'lock',
    replace: [
      [
        '(await redis.get(key)) === ownerToken',
        '(await redis.get(key)) === ownerToken && (await redis.pttl(key)) > 100',
      ],
    ],
    fails: 'late-release',
    reason: 'changes the lock of',
  },
  {
    what: 'knows by its own clock that the lease is not over',
    from: 'lock',
    replace: [
      ['  async function acquire(', '  let askedAt = 0;\n\n  async function acquire('],
      ['    while (', '    askedAt = performance.now();\n    while ('],
      ['undefined, { signal });', 'undefined, { signal });\n      askedAt = performance.now();'],
      ['(await redis.get(key)) === ownerToken', 'performance.now() - askedAt < leaseMs'],
    ],
    fails: 'late-release',
    reason: 'changes the lock of',
  },
  {
    what: 'deletes in one step, and looks then',
    from: 'lock',
    replace: [
      ['(await redis.get(key)) === ownerToken', '(await redis.getdel(key)) === ownerToken'],
      ['    await redis.del(key);\n', ''],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of',
  },
];
