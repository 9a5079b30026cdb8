// A simulated run as a playing: its events by the letters of the sales, with the leases, from the first sentence to the last.

import type { Lab } from '../../../simulation/lab.ts';
import { fromFirstToLast, type PlayEvent, withLeases, withLetters } from '../../evidence/playing.ts';

/** The playing so far, with the contents of Redis if they were watched. */
export const playingIn = ({ events, instances }: Pick<Lab, 'events' | 'instances'>): PlayEvent[] =>
  fromFirstToLast(withLeases(withLetters(events as PlayEvent[], instances)));
