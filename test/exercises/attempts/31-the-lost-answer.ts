import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'keeps the key, and does not keep the answer',
    from: 'lock',
    replace: [
      ['  try {\n    return await work();\n  } finally {\n    await redis.del(name);\n  }\n', '  return work();\n'],
    ],
    fails: 'retry-after-timeout',
    reason: 'the buyer never learns of it',
  },
  {
    what: 'deletes the key only if it is its own, as a lock does',
    from: 'lock',
    replace: [
      ["await redis.set(name, 'in progress', 'PX'", "await redis.set(name, mine, 'PX'"],
      ['  const name = ', '  const mine = String(Math.random());\n  const name = '],
      ['await redis.del(name);', 'if ((await redis.get(name)) === mine) await redis.del(name);'],
    ],
    fails: 'retry-after-timeout',
    reason: '2 orders for one purchase',
  },
  {
    what: 'looks for the key first, and claims it then',
    from: 'solution',
    replace: [
      [
        "  const claimed = await redis.set(name, 'in progress', 'PX', CLAIM_MS, 'NX');\n  if (claimed === null) {\n    const known = await redis.get(name);\n    if (known === null || known === 'in progress') throw inProgress();\n",
        "  const known = await redis.get(name);\n  if (known !== null) {\n    if (known === 'in progress') throw inProgress();\n",
      ],
      [
        '  const answer = await work();',
        "  await redis.set(name, 'in progress', 'PX', CLAIM_MS);\n  const answer = await work();",
      ],
    ],
    fails: 'clicks-at-once',
    reason: '2 orders for one purchase',
  },
];
