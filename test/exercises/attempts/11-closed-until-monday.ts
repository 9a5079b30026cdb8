import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'sends both commands at once, so that nothing comes in between',
    from: 'lock',
    replace: [
      [
        `    while ((await redis.setnx(key, ownerToken)) === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
`,
        `    const createWithEnd = () => Promise.all([redis.setnx(key, ownerToken), redis.pexpire(key, leaseMs)]);
    while ((await createWithEnd())[0] === 0) {
      await sleep(retryDelayMs, undefined, { signal });
    }
`,
      ],
      ['    await redis.pexpire(key, leaseMs);\n  }', '  }'],
    ],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
  {
    what: 'creates the key with SET and NX, and gives it an end then',
    from: 'lock',
    replace: [['(await redis.setnx(key, ownerToken)) === 0', "(await redis.set(key, ownerToken, 'NX')) !== 'OK'"]],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
  {
    what: 'gives the key its end before it creates it',
    from: 'lock',
    replace: [
      ['    await redis.pexpire(key, leaseMs);\n  }', '  }'],
      ['    while (', '    await redis.pexpire(key, leaseMs);\n    while ('],
    ],
    fails: 'crashed-holder',
    reason: 'Nobody has entered',
  },
  {
    what: 'creates the key with its end, also when it is there',
    from: 'solution',
    replace: [[", 'NX')", ')']],
    fails: 'plain',
    reason: 'are inside at the same time',
  },
];
