import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'looks twice, so that the time between is short',
    from: 'lock',
    replace: [
      [
        '    if ((await redis.del(',
        '    if ((await redis.get(key)) !== ownerToken) throw new LockNotHeldError(key);\n    if ((await redis.del(',
      ],
    ],
    fails: 'late-release',
    reason: 'changes the lock of B',
  },
  {
    what: 'lets a script look, and deletes in a command of its own',
    from: 'lock',
    replace: [
      [
        '(await redis.get(key)) !== ownerToken',
        '(await redis.eval("return redis.call(\'GET\', KEYS[1])", 1, key)) !== ownerToken',
      ],
    ],
    fails: 'late-release',
    reason: 'changes the lock of B',
  },
  {
    what: 'deletes only while its own clock says that the lease runs',
    from: 'lock',
    replace: [
      ['  async function acquire', '  let endsAt = 0;\n\n  async function acquire'],
      ['{ signal });\n    }\n', '{ signal });\n    }\n    endsAt = performance.now() + leaseMs;\n'],
      [
        '    if ((await redis.del(',
        '    if (performance.now() > endsAt) throw new LockNotHeldError(key);\n    if ((await redis.del(',
      ],
    ],
    fails: 'late-release',
    reason: 'changes the lock of B',
  },
  {
    what: 'sends the look and the delete at the same time',
    from: 'lock',
    replace: [
      [
        '    if ((await redis.get(key)) !== ownerToken) throw new LockNotHeldError(key);\n    if ((await redis.del(key)) === 0)',
        '    const [owner, deleted] = await Promise.all([redis.get(key), redis.del(key)]);\n    if (owner !== ownerToken || deleted === 0)',
      ],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of B',
  },
];
