import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'keeps the map inside of createLock, where no other sale sees it',
    from: 'solution',
    replace: [
      ['const held = new Map<string, Promise<void>>();\n', ''],
      ['  let leave:', '  const held = new Map<string, Promise<void>>();\n  let leave:'],
    ],
    fails: 'plain',
    reason: 'lost',
  },
  {
    what: 'looks once when it wakes up, so that all who wait get in',
    from: 'solution',
    replace: [['while (held.has(key))', 'if (held.has(key))']],
    fails: 'plain',
    reason: '1 lost',
  },
  {
    what: 'waits between the look and the taking',
    from: 'solution',
    replace: [['    held.set(key, new', '    await null;\n    held.set(key, new']],
    fails: 'plain',
    reason: 'lost',
  },
];
