import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'makes the UUID a part of a longer name',
    from: 'lock',
    replace: [
      ['({ redis, key, leaseMs, retryDelayMs })', '({ redis, key, ownerToken, leaseMs, retryDelayMs })'],
      ['const owner = randomUUID();', "const owner = [ownerToken, randomUUID()].join(':');"],
    ],
    fails: 'nested-object',
    reason: 'A waits for its own lock',
  },
  {
    what: 'makes the UUID when the lock is acquired',
    from: 'lock',
    replace: [
      ['const owner = randomUUID();', "let owner = '';"],
      ['    // The hold count,', '    owner = randomUUID();\n    // The hold count,'],
    ],
    fails: 'nested-call',
    reason: 'A waits for its own lock',
  },
  {
    what: 'makes one UUID for the whole process',
    from: 'lock',
    replace: [
      ['  // Nobody else can have it, on this node or on another one.\n  const owner = randomUUID();\n\n', ''],
      ['export const createLock', 'const owner = randomUUID();\n\nexport const createLock'],
    ],
    fails: 'plain',
    reason: 'lost',
  },
  {
    what: 'has one name for all who want the same goods',
    from: 'lock',
    replace: [
      ['const owner = randomUUID();', 'const owner = key;'],
      ["import { randomUUID } from 'node:crypto';\n", ''],
    ],
    fails: 'plain',
    reason: 'are inside at the same time',
  },
];
