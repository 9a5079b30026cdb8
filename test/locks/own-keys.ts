import { afterEach, expect } from 'vitest';
import { hearLostLeases } from './lock-options.ts';

/** The key of the test that asks, which no other test of its file has. A lease that is lost by surprise fails its test. */
export function ownKeys() {
  const lost: string[] = [];
  hearLostLeases((key) => lost.push(key));
  afterEach(() => expect(lost.splice(0), 'leases that were lost').toEqual([]));
  return () => `lock:${expect.getState().currentTestName}`;
}
