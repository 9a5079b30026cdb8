import { expect, test } from 'vitest';
import { locksOf } from '../../../live/server/own-parts.ts';

test.each([
  ['1-in-process', { hasLock: false, hasNodeLocks: true }],
  ['4-ttl', { hasLock: true, hasNodeLocks: false }],
  ['zookeeper', { hasLock: true, hasNodeLocks: false }],
  ['redis-atomic', { hasLock: false, hasNodeLocks: false }],
])('%s: where its lock is: %j', (stage, locks) => {
  expect(locksOf(stage)).toEqual(locks);
});
