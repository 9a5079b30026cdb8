// Waits for what can only be looked at.

import { setTimeout as sleep } from 'node:timers/promises';

/** How often the harness looks whether a step has happened, in milliseconds. */
const LOOK_MS = 20;

/** Looks again and again until `look` finds something. Resolves with undefined when `limitMs` has passed. */
export async function poll<T>(look: () => Promise<T | undefined>, limitMs: number): Promise<T | undefined> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > deadline) return found;
    await sleep(LOOK_MS);
  }
}
