import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'tries once more, and then goes in',
    from: 'solution',
    replace: [
      ["while ((await redis.set(key, 'held', 'NX')) !== 'OK')", "if ((await redis.set(key, 'held', 'NX')) !== 'OK')"],
    ],
    fails: 'plain',
    reason: 'no longer held',
  },
  {
    what: 'asks for the lock once, and then only whether the key is there',
    from: 'solution',
    replace: [
      [
        "    while ((await redis.set(key, 'held', 'NX')) !== 'OK') {",
        "    if ((await redis.set(key, 'held', 'NX')) === 'OK') return;\n    while ((await redis.exists(key)) === 1) {",
      ],
    ],
    fails: 'plain',
    reason: 'no longer held',
  },
  {
    what: 'leaves out the await, and so returns before it has the lock',
    from: 'lock',
    replace: [['    await acquire(signal);', '    void acquire(signal);']],
    fails: 'long-sale',
    reason: 'inside at the same time',
  },
];
