import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'renews the lease, so that it is not over when the write arrives',
    from: 'lock',
    replace: [
      [
        '  let fencingToken: string | undefined;\n',
        '  let fencingToken: string | undefined;\n  let watchdog: NodeJS.Timeout | undefined;\n',
      ],
      [
        '    fencingToken = token;\n',
        '    fencingToken = token;\n    watchdog = setInterval(() => void redis.pexpire(key, leaseMs), leaseMs / 3);\n',
      ],
      ['  async function release() {\n', '  async function release() {\n    clearInterval(watchdog);\n'],
    ],
    fails: 'crossed-write',
    reason: '1 lost',
  },
  {
    what: 'has a lease of twice the length',
    from: 'lock',
    replace: [['[ownerToken, leaseMs]);\n    let token', '[ownerToken, 2 * leaseMs]);\n    let token']],
    fails: 'crossed-write',
    reason: '1 lost',
  },
  {
    what: 'shows no token at all',
    from: 'solution',
    replace: [['      return fencingToken;\n', '      return fencingToken && undefined;\n']],
    fails: 'late-write',
    reason: '1 lost',
  },
];
