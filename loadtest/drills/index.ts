import type { Drill } from '../drill.ts';
import { oneNodeRush } from './one-node-rush.ts';
import { rush } from './rush.ts';
import { sellOut } from './sell-out.ts';

/** Every drill, in the order of the staircase's columns. */
export const drills: Drill[] = [oneNodeRush, rush, sellOut];
