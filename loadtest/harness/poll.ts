// Waits for what can only be looked at.

import { sharedClock, sleep } from './clock.ts';

/** How often the harness looks whether a step has happened, in milliseconds. */
const LOOK_MS = 20;

/** Looks again and again until `look` finds something. Resolves with undefined when `limitMs` has passed. */
export async function poll<T>(look: () => Promise<T | undefined>, limitMs: number): Promise<T | undefined> {
  const deadline = sharedClock() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || sharedClock() > deadline) return found;
    await sleep(LOOK_MS);
  }
}
