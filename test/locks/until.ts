import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when it is true, looking every 5 ms. The limit of the test ends the wait. */
export async function until(isTrue: () => Promise<boolean>) {
  while (!(await isTrue())) await sleep(5);
}
