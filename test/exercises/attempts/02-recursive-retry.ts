import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'looks first, and creates the key then',
    from: 'solution',
    replace: [
      [
        "    if ((await redis.set(key, 'held', 'NX')) === 'OK') return;\n",
        "    if ((await redis.get(key)) === null) {\n      await redis.set(key, 'held');\n      return;\n    }\n",
      ],
    ],
    fails: 'plain',
    reason: 'inside at the same time',
  },
  {
    what: 'forgets NX',
    from: 'solution',
    replace: [["'held', 'NX'", "'held'"]],
    fails: 'plain',
    reason: 'inside at the same time',
  },
  {
    what: 'makes a key for each holder',
    from: 'solution',
    replace: [
      ['({ redis, key, retryDelayMs })', '({ redis, key: name, ownerToken, retryDelayMs })'],
      ['  async function acquire', '  const key = name + ownerToken;\n\n  async function acquire'],
    ],
    fails: 'plain',
    reason: 'inside at the same time',
  },
  {
    what: 'goes on after the first wait, without a second try',
    from: 'solution',
    replace: [['    await acquire(signal);\n', '']],
    fails: 'plain',
    reason: 'no longer held',
  },
];
