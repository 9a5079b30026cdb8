// What a failed try of a stage keeps in memory. There is no clock in it: each wait is over at once.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readLock } from '../../prove/sandbox.ts';
import { createWorld } from '../../virtual/world.ts';
import { fileOf } from './lab.ts';

const WARM_UP_TRIES = 2_000;
const TRIES = 40_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapUsed() {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Lets a waiter of the stage try in vain. Resolves with the bytes that a try keeps while its waiter waits, and after the wait has ended. */
export async function measureTries(stage: string) {
  const openLock = await readLock(fileOf(stage));
  const figures = { before: 0, during: 0 };
  let tries = 0;
  async function wait() {
    tries += 1;
    if (tries === WARM_UP_TRIES) figures.before = heapUsed();
    if (tries < WARM_UP_TRIES + TRIES) return;
    figures.during = heapUsed();
    throw new Error('It has waited long enough.');
  }
  // The key is held by nobody who would ever give it up.
  const redis = { set: async () => null };
  const lock = openLock({ ...createWorld('P', 1), sleep: wait }).createLock({ redis, key: 'lock' } as never);
  await lock.acquire().catch(() => {});
  const after = heapUsed();
  return {
    bytesPerTry: (figures.during - figures.before) / TRIES,
    bytesPerTryAfterwards: (after - figures.before) / TRIES,
  };
}
