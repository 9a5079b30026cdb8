import type { Drill } from '../../drill.ts';
import { asGuardDrill } from '../clean-up.ts';
import { clockSkew } from './clock-skew.ts';
import { doubleRestore } from './double-restore.ts';
import { jobCrashesHalfWay } from './job-crashes-half-way.ts';
import { jobOutlivesLease } from './job-outlives-lease.ts';
import { sameNodeTwice } from './same-node-twice.ts';

/** The drills of the clean-up, in the order of the staircase's columns. */
export const guardDrills: Drill[] = [sameNodeTwice, doubleRestore, clockSkew, jobOutlivesLease, jobCrashesHalfWay].map(
  asGuardDrill,
);
/** The drills of the same request that comes twice, in the order of the staircase's columns. */
export const keyDrills: Drill[] = [];
