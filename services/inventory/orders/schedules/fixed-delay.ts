// Schedule · fixed-delay
// Problem: the ticks that were due while a slow one was under way have piled up, and all follow at once.
// Change:  a tick begins so long after the last one has ended.
// Leaves:  each tick moves all that come after it, so nobody can say at what time of the day one comes.

import { oneAfterTheOther, type Tick } from './fixed-rate.ts';

/** Calls `tick` so many milliseconds after its last call has ended, and after now. */
export const withFixedDelay = (delayMs: number, tick: Tick) =>
  oneAfterTheOther(delayMs, () => performance.now() + delayMs, tick);
