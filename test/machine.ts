// How busy the machine is, for limits in time that are the subject of a test.

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** An answer takes this many steps of this process and others, each of which may be late. */
const STEPS = 5;
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

/** Forgets how busy the machine was before a test. */
export function watchMachine() {
  delay.reset();
}

/** The limit, in milliseconds, on the machine as it was since the test began: longer when this process had to wait for its turn. */
export function atMost(limitMs: number): number {
  return limitMs + (STEPS * delay.max) / 1e6;
}
