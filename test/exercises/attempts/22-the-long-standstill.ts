import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'looks once more when it has renewed',
    from: 'lock',
    replace: [
      [
        '    await redis.pexpire(key, leaseMs);\n',
        '    await redis.pexpire(key, leaseMs);\n    if ((await redis.get(key)) !== ownerToken) lose();\n',
      ],
    ],
    fails: 'zombie-renewal',
    reason: 'Nobody has entered',
  },
  {
    what: 'sends both commands at once',
    from: 'lock',
    replace: [
      [
        '    if ((await redis.get(key)) !== ownerToken) return lose();\n    await redis.pexpire(key, leaseMs);\n',
        '    const [owner] = await Promise.all([redis.get(key), redis.pexpire(key, leaseMs)]);\n    if (owner !== ownerToken) lose();\n',
      ],
    ],
    fails: 'zombie-renewal',
    reason: 'Nobody has entered',
  },
  {
    what: 'does not renew what it has looked at',
    from: 'lock',
    replace: [['    await redis.pexpire(key, leaseMs);\n', '']],
    fails: 'long-sale',
    reason: 'A and B are inside at the same time',
  },
];
