import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'looks whether the key is there at all',
    from: 'lock',
    replace: [
      [
        '    if ((await redis.del(',
        "    if ((await redis.get(key)) !== 'held') throw new LockNotHeldError(key);\n    if ((await redis.del(",
      ],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of B',
  },
  {
    what: 'deletes first, and looks whose it was then',
    from: 'solution',
    replace: [
      [
        '    if ((await redis.get(key)) !== ownerToken)',
        '    const owner = await redis.get(key);\n    await redis.del(key);\n    if (owner !== ownerToken)',
      ],
      ['    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);\n', ''],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of B',
  },
  {
    what: 'reads and deletes in one command, and compares then',
    from: 'solution',
    replace: [
      ['(await redis.get(key)) !== ownerToken', '(await redis.getdel(key)) !== ownerToken'],
      ['    if ((await redis.del(key)) === 0) throw new LockNotHeldError(key);\n', ''],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of B',
  },
];
