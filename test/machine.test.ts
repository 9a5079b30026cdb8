import { setTimeout as sleep } from 'node:timers/promises';
import type { RunnerTask, RunnerTestSuite } from 'vitest';
import { expect, test, vi } from 'vitest';
import { atMost, runAgainAfterStandstill, testBegins } from './machine.ts';

/** This process has no turn for so long. */
async function standStill(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  await sleep(50);
}

/** This process works for so long, and comes to nothing else. */
async function work(ms: number) {
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

/** Two tests that have begun, one of them in a suite. */
function begun(): RunnerTask[] {
  const tests = [{ type: 'test' }, { type: 'test' }] as RunnerTask[];
  runAgainAfterStandstill({
    tasks: [{ type: 'suite', tasks: tests.slice(0, 1) }, ...tests.slice(1)],
  } as RunnerTestSuite);
  for (const task of tests) testBegins({ task });
  return tests;
}

test('a test is run again when it fails and the machine stood still since it began', async () => {
  const tests = begun();
  await standStill(300);
  expect(tests.map(isRunAgain)).toEqual([true, true]);

  for (const task of tests) testBegins({ task });
  expect(tests.map(isRunAgain)).toEqual([false, false]);
});

test('what a test works itself is no reason to run it again', async () => {
  // On a busy machine its process may be kept waiting besides.
  await vi.waitFor(async () => {
    const tests = begun();
    await work(300);
    expect(tests.map(isRunAgain)).toEqual([false, false]);
  }, 30_000);
});

test('a limit in time is stretched after a standstill, and never beyond three times its length', async () => {
  await standStill(60);
  expect(atMost(1_000)).toBeGreaterThan(1_100);

  await standStill(700);
  expect(atMost(1_000)).toBe(3_000);
});
