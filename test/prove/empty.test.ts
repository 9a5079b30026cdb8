// A lock under which nothing happens that could go wrong holds nothing.

import { expect, test } from 'vitest';
import { searchIn, writeLock } from './own-locks.ts';

const throws = "return { async acquire() { throw new Error('no'); }, async release() {} };";
/** It needs no server, so that no command of a release can be late. */
const without = 'return { async acquire() {}, async release() {} };';

test.each([
  { lock: 'acquire() always throws', code: throws, scope: 'late-write', reason: /^Nobody was inside/ },
  { lock: 'acquire() always throws', code: throws, scope: 'crashed-holder', reason: /^Nobody was inside/ },
  {
    lock: 'release() sends nothing',
    code: without,
    scope: 'late-release',
    reason: /^The fault happened in no/,
  },
])('$lock: $scope is unknown, and says what was missing', async ({ code, scope, reason }) => {
  expect(await searchIn(writeLock(code), scope)).toMatchObject({
    verdict: 'unknown',
    reason: expect.stringMatching(reason),
  });
});
