// What a drill that goes step by step shows of itself while it goes on, to somebody who only looks.

import type { SaleName } from '../evidence/history.ts';
import type { Death, Fault, LeaseSample } from '../evidence/timeline.ts';

/** All that `timelineOf` needs besides the events that the nodes push. */
export interface Observed {
  /** When the drill began, on the shared clock. */
  startedAt: number;
  /** When it was over and its way back began; undefined until then. What happens afterwards is no part of it. */
  endedAt(): number | undefined;
  /** What the drill did to break things: the list grows, and the end of each is entered when it is over. */
  faults: readonly Fault[];
  /** Each process of a node that died so far. */
  deaths(): Death[];
  /** What Redis held under the lock's key so far, the oldest first. None where the lock is elsewhere. */
  samples(): readonly LeaseSample[];
  /** The sale that an owner token names, if it names one. */
  ownerOf(token: string): SaleName | undefined;
  /** The units in stock at the beginning. */
  stock: number;
}

/** Called when a drill is ready for its first step; again for each time that it is run again. */
export type Observe = (seen: Observed) => void;
