// The drills of the orders, in the order of their staircases.

import type { Drill } from '../../harness/drill.ts';
import { guardStaircase } from '../../staircase/guards.ts';
import { scheduleStaircase } from '../../staircase/schedules.ts';
import { orderDrill } from '../pages.ts';
import { asKeyDrill } from '../purchase.ts';
import { bookingFails } from './booking-fails.ts';
import { doubleClick, oneNodeClick } from './clicks.ts';
import { clicksAtOnce } from './clicks-at-once.ts';
import { killedAtWork } from './killed-at-work.ts';
import { crashBeforeAnswer, retryAfterTimeout } from './lost-answer.ts';
import { nextUpstream } from './next-upstream.ts';
import { redelivered } from './redelivered.ts';
import { refundTwice } from './refund-twice.ts';
import { sentTwice } from './sent-twice.ts';

/** The drills of the clean-up, in the order of the staircase's columns. */
export const guardDrills: Drill[] = Object.keys(guardStaircase.columns).map(orderDrill);
/** The drills of the schedules, in the order of the staircase's columns. */
export const scheduleDrills: Drill[] = Object.keys(scheduleStaircase.columns).map(orderDrill);
/** The drills of the same request that comes twice, in the order of the staircase's columns. */
export const keyDrills: Drill[] = [
  oneNodeClick,
  doubleClick,
  refundTwice,
  retryAfterTimeout,
  crashBeforeAnswer,
  nextUpstream,
  redelivered,
].map(asKeyDrill);
/** Drills that are in no staircase: what an exercise has written is judged by them, too. */
export const exerciseDrills: Drill[] = [
  orderDrill('crossed-ticks'),
  ...[clicksAtOnce, killedAtWork, bookingFails, sentTwice].map(asKeyDrill),
];
