import type { Drill } from '../drill.ts';
import type { StepDrill } from '../step-drill.ts';
import { clientGone } from './client-gone.ts';
import { crashedHolder } from './crashed-holder.ts';
import { longSale } from './long-sale.ts';
import { longWait } from './long-wait.ts';
import { nestedCall } from './nested-call.ts';
import { oneNodeRush } from './one-node-rush.ts';
import { pausedProcess } from './paused-process.ts';
import { rush } from './rush.ts';
import { sellOut } from './sell-out.ts';
import { slowHolder } from './slow-holder.ts';

/** The drills under load, in the order of the staircase's columns. */
export const drills: Drill[] = [oneNodeRush, rush, sellOut];

/** The drills that stage one fault step by step, in the same order. */
export const stepDrills: StepDrill[] = [
  longWait,
  crashedHolder,
  slowHolder,
  nestedCall,
  longSale,
  pausedProcess,
  clientGone,
];
