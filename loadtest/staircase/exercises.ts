// The drills that are columns of no staircase: they judge what is written in an exercise.

import type { Column } from './staircase.ts';

/** By their names. */
export const exerciseColumns: Record<string, Pick<Column, 'asks' | 'seconds'>> = {
  'clicks-at-once': {
    asks: 'does one purchase make one order when both nodes get it at the same moment?',
    seconds: 4,
  },
  'crossed-ticks': { asks: 'is an order restored twice when both nodes come to it at the same moment?', seconds: 2 },
  'killed-at-work': { asks: 'is a payment lost when its consumer dies before it has booked it?', seconds: 5 },
  'booking-fails': { asks: 'is a payment lost when MySQL does not answer while it is booked?', seconds: 5 },
  'sent-twice': { asks: 'is one payment booked once when its provider sends it twice?', seconds: 2 },
};
