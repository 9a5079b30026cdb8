// What is expected of the schedules of a job: what becomes of the ticks that are due while one is under way.

import type { JobSchedule } from '../../services/inventory/orders/contract.ts';
import { countOf } from '../narration/numbers.ts';
import { readOrderStaircase } from './staircase.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                       runs-overlap
                       │  runs-pile-up
schedule-cron-overlap  ✘  ✔
schedule-fixed-rate    ✔  ✘
schedule-fixed-delay   ✔  ✔
schedule-cron          ✔  ✔
`;

/** What the second job does to the ticks: it keeps the event loop, or comes to an `await` after each slice. */
const reportTable = `
                  busy-job
report-busy       ✘
report-in-slices  ✔
`;

/** How often a tick is due under each of them, in milliseconds. */
export const PERIOD_MS = 1_000;

/** What a node is told, by the kind of schedule. */
export const schedules: Record<string, JobSchedule> = {
  'cron-overlap': { cron: '* * * * * ?', overlap: true },
  'fixed-rate': { fixedRateMs: PERIOD_MS },
  'fixed-delay': { fixedDelayMs: PERIOD_MS },
  cron: { cron: '* * * * * ?' },
};

/** The schedules of the clean-up. */
export const scheduleStaircase = readOrderStaircase({
  ...{ prefix: 'schedule', kind: 'Schedule', rowWord: 'schedule', table },
  title: 'The schedules: ticks that are due while one is under way',
  figure({ meanwhile, late }) {
    if (meanwhile !== undefined) return `${countOf(meanwhile, 'tick')} meanwhile`;
    return late === undefined ? undefined : `${countOf(late, 'tick')} at once`;
  },
  row: (kind) => ({ story: `services/inventory/orders/schedules/${kind}.ts` }),
});

/** The second job of a node, beside a clean-up that ticks. */
export const reportStaircase = readOrderStaircase({
  ...{ prefix: 'report', kind: 'Report', rowWord: 'report', table: reportTable },
  title: 'The second job: ticks of the clean-up that come late',
  figure: ({ late }) => (late === undefined ? undefined : `${countOf(late, 'tick')} late`),
  row: (way) => ({ story: `services/inventory/orders/report/${way}.ts` }),
});
