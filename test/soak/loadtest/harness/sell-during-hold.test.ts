import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sharedClock } from '../../../../loadtest/harness/clock.ts';
import { sellDuringHold } from '../../../../loadtest/harness/sell-during-hold.ts';
import type { TestBed } from '../../../../loadtest/harness/test-bed.ts';
import type { InsideSale } from '../../../../loadtest/harness/watched-sales.ts';

test('sales during a hold: all of them together have the limit, not each of them', async () => {
  const LIMIT_MS = 1_000;
  const limits: number[] = [];
  const testBed = {
    second: { name: 'node-2', async script() {} },
    // Each one is sold when at least half of the time that it was given has passed: a timer may fire a little early.
    async sellWithin(_node: unknown, limitMs: number) {
      limits.push(limitMs);
      const startedAt = sharedClock();
      while (sharedClock() - startedAt < limitMs / 2) await sleep(limitMs / 20);
      return { outcome: 'sold' };
    },
    async say() {},
    async mustBeInside() {},
  } as unknown as TestBed;

  expect(await sellDuringHold(testBed, {} as InsideSale, LIMIT_MS)).toBe(3);

  expect(limits).toHaveLength(3);
  expect(limits[0]).toBeGreaterThan(LIMIT_MS / 2);
  expect(limits[1]).toBeLessThanOrEqual(LIMIT_MS / 2);
  expect(limits[2]).toBeLessThanOrEqual(LIMIT_MS / 4);
});
