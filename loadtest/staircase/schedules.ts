// What is expected of the schedules of a job: what becomes of the ticks that are due while one is under way.

import type { JobSchedule } from '../../services/inventory/orders/contract.ts';
import { countOf, formatNumber } from '../narration/numbers.ts';
import { either } from '../narration/spoken.ts';
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
  ...{ prefix: 'schedule', kind: ['Schedule', '调度'], rowWord: ['schedule', '调度方式'], table },
  title: [
    'The schedules: runs that fall due while another run is in progress',
    '调度方式：上一次还没结束时，到期的任务',
  ],
  figure({ meanwhile, late }) {
    if (meanwhile !== undefined)
      return either(`${countOf(meanwhile, 'run')} meanwhile`, `其间开始 ${formatNumber(meanwhile)} 次`);
    return late === undefined ? undefined : either(`${countOf(late, 'run')} at once`, `连续 ${formatNumber(late)} 次`);
  },
  row: (kind) => ({ story: `services/inventory/orders/schedules/${kind}.ts` }),
});

/** The second job of a node, beside a clean-up that ticks. */
export const reportStaircase = readOrderStaircase({
  ...{ prefix: 'report', kind: ['Report', '汇总'], rowWord: ['report', '写法'], table: reportTable },
  title: ['The second job: runs of the clean-up that start late', '第二个任务：清理任务触发晚了的次数'],
  figure: ({ late }) =>
    late === undefined ? undefined : either(`${countOf(late, 'run')} late`, `晚了 ${formatNumber(late)} 次`),
  row: (way) => ({ story: `services/inventory/orders/report/${way}.ts` }),
});
