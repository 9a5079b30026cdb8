// The drills of the locks, in the order of the staircase.

import type { Drill } from '../harness/drill.ts';
import { asDrill, type StepDrill } from '../harness/step-drill.ts';
import { amnesia } from './amnesia.ts';
import { blockedLoop } from './blocked-loop.ts';
import { clientGone } from './client-gone.ts';
import { clockJump } from './clock-jump.ts';
import { crashedHolder } from './crashed-holder.ts';
import { crossedSkus } from './crossed-skus.ts';
import { crossedWrite } from './crossed-write.ts';
import { earlyRead } from './early-read.ts';
import { failover } from './failover.ts';
import { forgottenSale } from './forgotten-sale.ts';
import { frozenMaster } from './frozen-master.ts';
import { hungHolder } from './hung-holder.ts';
import { lateBatch } from './late-batch.ts';
import { lateRelease } from './late-release.ts';
import { lateVotes } from './late-votes.ts';
import { lateWrite } from './late-write.ts';
import { longSale } from './long-sale.ts';
import { longWait } from './long-wait.ts';
import { nestedCall } from './nested-call.ts';
import { oneNodeRush } from './one-node-rush.ts';
import { overtaking } from './overtaking.ts';
import { partition } from './partition.ts';
import { pausedProcess } from './paused-process.ts';
import { redisOutage } from './redis-outage.ts';
import { rush } from './rush.ts';
import { sellOut } from './sell-out.ts';
import { slowHolder } from './slow-holder.ts';
import { starvation } from './starvation.ts';
import { wrongReplica } from './wrong-replica.ts';

/** The drills that stage one fault step by step, in the order of the staircase's columns. */
export const stepDrills: StepDrill[] = [
  longWait,
  crashedHolder,
  hungHolder,
  slowHolder,
  lateRelease,
  nestedCall,
  longSale,
  pausedProcess,
  blockedLoop,
  partition,
  lateWrite,
  crossedWrite,
  lateBatch,
  earlyRead,
  crossedSkus,
  failover,
  forgottenSale,
  wrongReplica,
  redisOutage,
  clientGone,
  starvation,
  overtaking,
];

/** Those that break the masters of a lock that is given by vote. */
export const masterDrills: StepDrill[] = [frozenMaster, lateVotes, amnesia];

/** Those that set a clock: of a master, or of the one Redis. */
export const clockDrills: StepDrill[] = [clockJump];

/** All drills, in the same order. */
export const drills: Drill[] = [
  oneNodeRush,
  rush,
  sellOut,
  ...[...stepDrills, ...masterDrills, ...clockDrills].map(asDrill),
];
