import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'reads once more when there is no owner',
    from: 'lock',
    replace: [
      ['const owner = await redis.get(key);', 'const owner = (await redis.get(key)) ?? (await redis.get(key));'],
    ],
    fails: 'plain',
    reason: 'has no owner',
  },
  {
    what: 'asks for the owner only when the key is there',
    from: 'lock',
    replace: [
      [
        'if ((await readOwner()) === ownerToken)',
        'const isThere = (await redis.exists(key)) === 1;\n      if (isThere && (await readOwner()) === ownerToken)',
      ],
    ],
    fails: 'plain',
    reason: 'has no owner',
  },
  {
    what: 'takes the lock at once when it has no owner',
    from: 'lock',
    replace: [
      [
        `    if (owner === null) throw new Error(\`The lock \${key} has no owner.\`);
    return owner;
`,
        `    if (owner === null) await redis.set(key, ownerToken, 'PX', leaseMs);
    return owner ?? '';
`,
      ],
      [
        `      await sleep(retryDelayMs, undefined, { signal });
`,
        `      if ((await redis.get(key)) === ownerToken) return;
      await sleep(retryDelayMs, undefined, { signal });
`,
      ],
    ],
    fails: 'plain',
    reason: 'changes the lock of',
  },
];
