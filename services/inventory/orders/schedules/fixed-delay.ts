// Schedule · fixed-delay
// Problem: runs that were due during a slow run pile up, and all follow at once.
// Change:  a run starts a fixed delay after the end of the last one.
// Leaves:  each run shifts all later runs, so nobody can say at what time of day a run starts.

import { oneAfterTheOther, type Tick } from './fixed-rate.ts';

/** Calls `tick` `delayMs` after its last call has ended, and for the first time after the same delay. */
export const withFixedDelay = (delayMs: number, tick: Tick) =>
  oneAfterTheOther(delayMs, () => performance.now() + delayMs, tick);
