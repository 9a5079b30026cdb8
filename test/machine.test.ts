import { setTimeout as sleep } from 'node:timers/promises';
import type { RunnerTask, RunnerTestSuite } from 'vitest';
import { expect, test } from 'vitest';
import { atMost, runAgainAfterStandstill, testBegins } from './machine.ts';

/** Nothing else has its turn in this process for so long. */
async function standStill(ms: number) {
  const until = performance.now() + ms;
  while (performance.now() < until);
  await sleep(50);
}

/** Would a test be run again that failed now? */
function isRunAgain(task: RunnerTask): boolean {
  const { retry } = task;
  if (typeof retry !== 'object' || typeof retry.condition !== 'function') throw new Error('It is never run again.');
  return retry.condition({ message: 'too late' });
}

test('a test is run again when it fails while the machine stands still, and not otherwise', async () => {
  const [inner, outer] = [{ type: 'test' }, { type: 'test' }] as RunnerTask[];
  runAgainAfterStandstill({ tasks: [{ type: 'suite', tasks: [inner] }, outer] } as Pick<RunnerTestSuite, 'tasks'>);
  if (inner === undefined || outer === undefined) throw new Error('There are two.');
  testBegins({ task: inner });

  await standStill(200);
  testBegins({ task: outer });

  expect([inner, outer].map(isRunAgain)).toEqual([true, false]);
});

test('a limit in time is stretched after a standstill, and never beyond three times its length', async () => {
  await standStill(60);
  expect(atMost(1_000)).toBeGreaterThan(1_100);

  await standStill(700);
  expect(atMost(1_000)).toBe(3_000);
});
