// No right lock falls to a long sequence. The wrong ones that do are in test/loadtest/conformance/wrong-locks.txt.

import { expect, test } from 'vitest';
import { runCheck } from '../../../../loadtest/conformance/conformance.ts';
import { lockNamed } from '../../../../simulation/lock-service.ts';
import { rightLocks } from '../../../loadtest/conformance/right-locks.ts';
import { writeModule } from '../../../loadtest/grade/modules.ts';

const check = 'contract-long-sequences';
const facts = { backend: 'redis', isExternal: true } as const;

test.each(['plain', 'odd', 'oddWoken', 'oddQueue', 'counting', 'clocked', 'popping', 'oddHasty', 'lazy'] as const)(
  'a right lock holds: %s',
  async (name) => {
    const file = writeModule('of-somebody.ts', rightLocks[name]);
    expect(await runCheck(check, { name: 'of-somebody', file, facts })).toMatchObject({ verdict: 'pass' });
  },
);

test.each([
  '6-lua-release',
  '7-reentrant',
  '8-auto-renew',
  'blocking',
  'fair',
  'cohort',
  'combine',
  'read-write',
  'fenced',
  'semaphore',
  'redlock',
  'replicated',
])('%s of this lab holds', async (name) => {
  expect(await runCheck(check, lockNamed(name))).toMatchObject({ verdict: 'pass' });
});
