import { afterEach, beforeEach, expect } from 'vitest';
import { hearLostLeases } from './lock-options.ts';

/**
 * The keys of the tests of one file. A try of a test that fails may keep its lock, and lose it whenever it likes: the next try has a key
 * of its own, and is not blamed for that. A lease that is lost by surprise fails the try that it belongs to.
 */
export function ownKeys() {
  const failed: string[] = [];
  const lost: string[] = [];
  let tries = 0;
  hearLostLeases((key) => lost.push(key));
  const begin = () => `lock:${tries}:`;

  beforeEach(() => {
    tries += 1;
  });

  afterEach(({ task }) => {
    const lostNow = lost.filter((key) => key.startsWith(begin()));
    if (task.result?.state === 'fail' || lostNow.length > 0) failed.push(begin());
    expect(lostNow, 'leases that were lost').toEqual([]);
  });

  /** Whether it belongs to a try that has failed. */
  function isOfFailed(key: string) {
    return failed.some((begin) => key.startsWith(begin));
  }

  return {
    /** The key of the test that asks, which no other test has, nor another try of it. */
    key: () => `${begin()}${expect.getState().currentTestName}`,
    isOfFailed,
    hasFailed: () => failed.length > 0,
    /** The keys of all other leases that were lost by surprise, such as after the end of their test. */
    lost: () => lost.filter((key) => !isOfFailed(key)),
  };
}
