import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'allows a thousand times as many tries',
    from: 'lock',
    replace: [['MOST_TRIES = 1_000', 'MOST_TRIES = 1_000_000']],
    fails: 'plain',
    reason: 'fails: Too many buyers',
  },
  {
    what: 'gives the lock back when a buyer is turned away',
    from: 'lock',
    replace: [
      [
        "    if (!(await tryLock(MOST_TRIES, signal))) throw new Error('Too many buyers. Please come again later.');\n",
        `    if (await tryLock(MOST_TRIES, signal)) return;
    await releaseIfOwner(redis, [key], [ownerToken]);
    throw new Error('Too many buyers. Please come again later.');
`,
      ],
    ],
    fails: 'plain',
    reason: 'fails: Too many buyers',
  },
  {
    what: 'does not wait for the inner call, which will get the lock',
    from: 'lock',
    replace: [
      [
        '      await tryLock(triesLeft - 1, signal);\n',
        '      void tryLock(triesLeft - 1, signal);\n      return true;\n',
      ],
    ],
    fails: 'plain',
    reason: 'are inside at the same time',
  },
];
