import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'deletes the key only when it is there',
    from: 'lock',
    replace: [['await redis.del(key);', '(await redis.exists(key)) === 1 ? await redis.del(key) : 0;']],
    fails: 'slow-holder',
    reason: 'changes the lock of',
  },
  {
    what: 'deletes the key only when some of the lease is left',
    from: 'lock',
    replace: [['await redis.del(key);', '(await redis.pttl(key)) > 0 ? await redis.del(key) : 0;']],
    fails: 'slow-holder',
    reason: 'changes the lock of',
  },
  {
    what: 'takes the key out, and looks whose it was',
    from: 'lock',
    replace: [
      ['const deleted = await redis.del(key);', 'const owner = await redis.getdel(key);'],
      ['if (deleted === 0)', 'if (owner !== ownerToken)'],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of',
  },
];
