// The drills that are columns of no staircase: they judge what is written in an exercise.

import type { Column } from './staircase.ts';

/** By their names. */
export const exerciseColumns: Record<string, Pick<Column, 'asks'>> = {
  'clicks-at-once': { asks: 'does one purchase make one order when both nodes get it at the same moment?' },
  'crossed-ticks': { asks: 'is an order restored twice when both nodes come to it at the same moment?' },
  'killed-at-work': { asks: 'is a payment lost when its consumer dies before it has booked it?' },
  'booking-fails': { asks: 'is a payment lost when MySQL does not answer while it is booked?' },
  'sent-twice': { asks: 'is one payment booked once when its provider sends it twice?' },
};
