// The drills of the orders, in the order of their staircases.

import type { Drill } from '../../harness/drill.ts';
import { asGuardDrill } from '../clean-up.ts';
import { asKeyDrill } from '../purchase.ts';
import { asScheduleDrill } from '../schedules.ts';
import { bookingFails } from './booking-fails.ts';
import { doubleClick, oneNodeClick } from './clicks.ts';
import { clicksAtOnce } from './clicks-at-once.ts';
import { clockSkew } from './clock-skew.ts';
import { crossedTicks } from './crossed-ticks.ts';
import { jobCrashesHalfWay } from './job-crashes-half-way.ts';
import { jobOutlivesLease } from './job-outlives-lease.ts';
import { killedAtWork } from './killed-at-work.ts';
import { crashBeforeAnswer, retryAfterTimeout } from './lost-answer.ts';
import { nextUpstream } from './next-upstream.ts';
import { redelivered } from './redelivered.ts';
import { refundTwice } from './refund-twice.ts';
import { runsOverlap, runsPileUp } from './runs.ts';
import { doubleRestore, sameNodeTwice } from './same-tick-twice.ts';
import { sentTwice } from './sent-twice.ts';

/** The drills of the clean-up, in the order of the staircase's columns. */
export const guardDrills: Drill[] = [sameNodeTwice, doubleRestore, clockSkew, jobOutlivesLease, jobCrashesHalfWay].map(
  asGuardDrill,
);
/** The drills of the schedules, in the order of the staircase's columns. */
export const scheduleDrills: Drill[] = [runsOverlap, runsPileUp].map(asScheduleDrill);
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
  asGuardDrill(crossedTicks),
  ...[clicksAtOnce, killedAtWork, bookingFails, sentTwice].map(asKeyDrill),
];
