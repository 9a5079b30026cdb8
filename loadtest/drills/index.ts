// The drills of the locks, in the order of the staircase: most are scenarios, a page of sentences each.

import type { Drill } from '../harness/drill.ts';
import { asDrill, type StepDrill } from '../harness/step-drill.ts';
import { scenario } from '../scenarios/index.ts';
import { crossedSkus } from './crossed-skus.ts';
import { earlyRead } from './early-read.ts';
import { oneNodeRush } from './one-node-rush.ts';
import { overtaking } from './overtaking.ts';
import { redisOutage } from './redis-outage.ts';
import { rush } from './rush.ts';
import { sellOut } from './sell-out.ts';
import { starvation } from './starvation.ts';

/** The drills that stage one fault step by step, in the order of the staircase's columns. */
export const stepDrills: StepDrill[] = [
  scenario('long-wait'),
  scenario('crashed-holder'),
  scenario('hung-holder'),
  scenario('slow-holder'),
  scenario('late-release'),
  scenario('nested-call'),
  scenario('long-sale'),
  scenario('paused-process'),
  scenario('blocked-loop'),
  scenario('partition'),
  scenario('late-write'),
  scenario('crossed-write'),
  scenario('late-batch'),
  earlyRead,
  crossedSkus,
  scenario('failover'),
  scenario('forgotten-sale'),
  scenario('wrong-replica'),
  redisOutage,
  scenario('client-gone'),
  starvation,
  overtaking,
];

/** Those that break the masters of a lock that is given by vote. */
export const masterDrills: StepDrill[] = ['frozen-master', 'late-votes', 'amnesia'].map(scenario);

/** Those that set a clock: of a master, or of the one Redis. */
export const clockDrills: StepDrill[] = [scenario('clock-jump')];

/** All drills, in the same order. */
export const drills: Drill[] = [
  oneNodeRush,
  rush,
  sellOut,
  ...[...stepDrills, ...masterDrills, ...clockDrills].map(asDrill),
];
