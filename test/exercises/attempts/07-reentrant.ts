import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'counts in the lock object, and the inner function has another one',
    from: 'lock',
    replace: [
      [
        '  async function acquire(signal?: AbortSignal) {\n',
        '  let holds = 0;\n\n  async function acquire(signal?: AbortSignal) {\n    if (holds > 0) {\n      holds += 1;\n      return;\n    }\n',
      ],
      ['{ signal });\n    }\n', '{ signal });\n    }\n    holds = 1;\n'],
      ['    if ((await releaseIfOwner', '    holds -= 1;\n    if (holds > 0) return;\n    if ((await releaseIfOwner'],
    ],
    fails: 'nested-object',
    reason: 'waits for its own lock',
  },
  {
    what: 'lets the owner in again and counts nothing, so that the inner release frees the lock',
    from: 'lock',
    replace: [
      [
        '    while ((await redis.set',
        '    if ((await redis.get(key)) === ownerToken) return;\n    while ((await redis.set',
      ],
    ],
    fails: 'nested-object',
    reason: 'inside at the same time',
  },
  {
    what: 'sets the count to one instead of adding one',
    from: 'solution',
    replace: [
      [
        "const acquireReentrant = readScript('acquire-reentrant');",
        "const script =\n  \"if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end redis.call('HSET', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1\";",
      ],
      [
        '(await acquireReentrant(redis, [key], [ownerToken, leaseMs]))',
        '(await redis.eval(script, 1, key, ownerToken, leaseMs))',
      ],
    ],
    fails: 'nested-object',
    reason: 'inside at the same time',
  },
  {
    what: 'lets everybody in who finds the hash there',
    from: 'solution',
    replace: [
      [
        '(await acquireReentrant(redis, [key], [ownerToken, leaseMs])) === 0',
        '(await redis.hincrby(key, ownerToken, 1)) < 1',
      ],
    ],
    fails: 'plain',
    reason: 'inside at the same time',
  },
];
