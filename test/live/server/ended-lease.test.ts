import { expect, test } from 'vitest';
import type { LockView } from '../../../live/contract.ts';
import { createEndedLease } from '../../../live/server/ended-lease.ts';

const nodes = [{ name: 'node-1', waiting: 0, inside: ['0001'] }];
const lock = (holder: string, leftMs?: number): LockView => ({
  holder,
  leaseMs: 2_000,
  ...(leftMs !== undefined && { leftMs }),
});
const held = lock('held', 2_000);
const ended = 'The lease has ended while this step waits: sale 0001 on node-1 is still inside.';

/** What is told of the locks that are seen, each at its moment, while a step waits. */
function told(...seen: [ms: number, lock: LockView | null][]) {
  let now = 0;
  const lease = createEndedLease(() => now);
  lease.begin();
  return seen.flatMap(([ms, lock]) => {
    now = ms;
    return lease.look({ lock, nodes }) ?? [];
  });
}

test.each<[string, [number, LockView | null][], string[]]>([
  [
    'the lease has ended: once',
    [
      [0, held],
      [2_000, null],
      [2_100, null],
    ],
    [ended],
  ],
  [
    'it was renewed',
    [
      [0, held],
      [1_500, lock('held', 2_000)],
      [3_000, lock('held', 500)],
    ],
    [],
  ],
  [
    'the lock was given up before',
    [
      [0, held],
      [1_000, null],
    ],
    [],
  ],
])('a step waits, and %s', (_, seen, sentences) => {
  expect(told(...seen)).toEqual(sentences);
});

test('nothing is told when no step waits', () => {
  let now = 0;
  const lease = createEndedLease(() => now);
  lease.begin();
  lease.look({ lock: held, nodes });
  lease.end();
  now = 2_000;
  expect(lease.look({ lock: null, nodes })).toBeUndefined();
});
