// What is expected of the schedules of a job: what becomes of the ticks that are due while one is under way.

import type { JobSchedule } from '../../services/inventory/orders/contract.ts';
import { countOf } from '../narration/numbers.ts';
import { readOrderStaircase } from './staircase.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                      runs-overlap
                      │  runs-pile-up
schedule-cron         ✘  ✔
schedule-fixed-rate   ✔  ✘
schedule-fixed-delay  ✔  ✔
`;

/** How often a tick is due under each of them, in milliseconds. */
export const PERIOD_MS = 1_000;

/** What a node is told, by the kind of schedule. */
export const schedules: Record<string, JobSchedule> = {
  cron: { cron: '* * * * * ?' },
  'fixed-rate': { fixedRateMs: PERIOD_MS },
  'fixed-delay': { fixedDelayMs: PERIOD_MS },
};

const story = (kind: string) => `services/inventory/orders/schedules/${kind}.ts`;

/** The schedules of the clean-up. */
export const scheduleStaircase = readOrderStaircase({
  ...{ prefix: 'schedule', kind: 'Schedule', rowWord: 'schedule', table },
  title: 'The schedules: ticks that are due while one is under way',
  figure({ meanwhile, late }) {
    if (meanwhile !== undefined) return `${countOf(meanwhile, 'tick')} meanwhile`;
    return late === undefined ? undefined : `${countOf(late, 'tick')} at once`;
  },
  rows: {
    cron: { story: story('cron') },
    'fixed-rate': { before: 'cron', story: story('fixed-rate') },
    'fixed-delay': { before: 'fixed-rate', story: story('fixed-delay') },
  },
});
