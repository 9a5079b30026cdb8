// The expected results of the schedules of a job: what happens to runs that fall due while another run is in progress.

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

/** What the second job does: it blocks the event loop, or awaits after each slice. */
const reportTable = `
                  busy-job
report-busy       ✘
report-in-slices  ✔
`;

/** How often a run is due under each schedule, in milliseconds. */
export const PERIOD_MS = 1_000;

/** The setting of a node for each kind of schedule. */
export const schedules: Record<string, JobSchedule> = {
  'cron-overlap': { cron: '* * * * * ?', overlap: true },
  'fixed-rate': { fixedRateMs: PERIOD_MS },
  'fixed-delay': { fixedDelayMs: PERIOD_MS },
  cron: { cron: '* * * * * ?' },
};

/** The schedules of the clean-up. */
export const scheduleStaircase = readOrderStaircase({
  ...{ prefix: 'schedule', kind: 'Schedule', rowWord: 'schedule', table },
  title: 'The schedules: runs that fall due while another run is in progress',
  figure({ meanwhile, late }) {
    if (meanwhile !== undefined) return `${countOf(meanwhile, 'tick')} meanwhile`;
    return late === undefined ? undefined : `${countOf(late, 'run')} at once`;
  },
  row: (kind) => ({ story: `services/inventory/orders/schedules/${kind}.ts` }),
});

/** The second job of a node, beside its clean-up. */
export const reportStaircase = readOrderStaircase({
  ...{ prefix: 'report', kind: 'Report', rowWord: 'report', table: reportTable },
  title: 'The second job: runs of the clean-up that start late',
  figure: ({ late }) => (late === undefined ? undefined : `${countOf(late, 'tick')} late`),
  row: (way) => ({ story: `services/inventory/orders/report/${way}.ts` }),
});
