import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readLock } from '../../prove/sandbox.ts';
import { lockNamed } from '../../simulation/lock-service.ts';
import { createWorld } from '../../simulation/world.ts';

/** So many that what the test runner itself keeps meanwhile, some hundred kilobytes, does not count beside them. */
const TRIES = 100_000;

/** The bytes that so many failed tries keep: while their waiter waits, and after its wait has ended. There is no clock in it. */
async function measureTries(stage: string) {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  function heapUsed() {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  }
  const figures = { before: 0, during: 0 };
  let tries = 0;
  async function wait() {
    tries += 1;
    if (tries === TRIES) figures.before = heapUsed();
    if (tries < 2 * TRIES) return;
    figures.during = heapUsed();
    throw new Error('It has waited long enough.');
  }
  const openLock = await readLock(lockNamed(stage).file);
  // The key is held by nobody who would ever give it up.
  const redis = { set: async () => null };
  const lock = openLock({ ...createWorld('P', 1), sleep: wait }).createLock({ redis, key: 'lock' } as never);
  await lock.acquire().catch(() => {});
  return { during: figures.during - figures.before, afterwards: heapUsed() - figures.before };
}

test('2-recursive-retry: every failed try stays in memory until the last one ends; of 3-spin none does', async () => {
  const [recursive, spin] = [await measureTries('2-recursive-retry'), await measureTries('3-spin')];

  expect(recursive.during).toBeGreaterThan(100 * TRIES);
  expect(recursive.afterwards).toBeLessThan(20 * TRIES);
  expect(spin.during).toBeLessThan(20 * TRIES);
});
