// The expected results of the clean-up's protections against duplicate runs: how many of the due units are restored.

import { formatNumber } from '../narration/numbers.ts';
import { either } from '../narration/spoken.ts';
import { readOrderStaircase, type UnreadRow } from './staircase.ts';

// ✔ holds, ✘ fails, · is left to the measurement, – has nothing to break.
const table = `
                         same-node-twice
                         │  double-restore
                         │  │  clock-skew
                         │  │  │  job-outlives-lease
                         │  │  │  │  job-crashes-half-way
                         │  │  │  │  │  job-crashes-after-close
guard-none               ✘  ✘  ✘  ✘  ✘  ✔
guard-in-process         ✔  ✘  ✘  ✘  ✘  ✔
guard-2-recursive-retry  ✔  ✔  ✔  ✔  ✘  ✘
guard-3-spin             ✔  ✔  ✔  ✔  ✘  ✘
guard-4-ttl              ✔  ✔  ✔  ✘  ✘  ✔
guard-5-owner-check      ✔  ✔  ✔  ✘  ✘  ✔
guard-6-lua-release      ✔  ✔  ✔  ✘  ✘  ✔
guard-7-reentrant        ✔  ✔  ✔  ✘  ✘  ✔
guard-8-auto-renew       ✔  ✔  ✔  ✔  ✘  ✔
guard-blocking           ✔  ✔  ✔  ✔  ✘  ✔
guard-fair               ✔  ✔  ✔  ✔  ✘  ✔
guard-cohort             ✔  ✔  ✔  ✔  ✘  ✔
guard-fenced             ✔  ✔  ✔  ✔  ✘  ✔
guard-zookeeper          ✔  ✔  ✔  ✔  ✘  ✔
guard-mysql-lock-table   ✔  ✔  ✔  ✔  ✘  ✔
guard-mysql-named        ✔  ✔  ✔  ✔  ✘  ✔
guard-close-first        ✔  ✔  ✔  ✔  ✔  ✘
guard-conditional        ✔  ✔  ✔  ✔  ✔  ✔
`;

/** The row of a protection, by its name in JOB_LOCK. */
export const rowOfGuard = (guard: string) => `guard-${guard}`;

const jobs = 'services/inventory/orders/jobs';
const lock = `${jobs}/lock.ts`;
/** A lock as a protection. The walkthrough leaves it out, because it shows nothing new. */
const aside = (before: string) => ({ before, story: lock, isAside: true });

/** More about a protection that has no file among the jobs, or is not compared with the row above it. */
const rows: Record<string, Partial<UnreadRow>> = {
  '2-recursive-retry': aside('in-process'),
  '3-spin': aside('in-process'),
  '4-ttl': aside('in-process'),
  '5-owner-check': aside('in-process'),
  '6-lua-release': { before: 'in-process', story: lock },
  '7-reentrant': aside('in-process'),
  '8-auto-renew': { before: '6-lua-release', story: 'locks/8-auto-renew.ts' },
  blocking: aside('6-lua-release'),
  fair: aside('6-lua-release'),
  cohort: aside('6-lua-release'),
  fenced: aside('6-lua-release'),
  zookeeper: { before: '8-auto-renew', story: 'locks/beyond/zookeeper.ts', backends: ['mysql', 'zookeeper'] },
  'mysql-lock-table': { before: '8-auto-renew', story: 'locks/beyond/mysql-lock-table.ts' },
  'mysql-named': aside('8-auto-renew'),
  'close-first': { before: '8-auto-renew' },
};

/** The protections of the scheduled clean-up against duplicate runs. */
export const guardStaircase = readOrderStaircase({
  ...{ prefix: 'guard', kind: ['Protection', '防重复'], rowWord: ['protection', '方案'], table },
  title: ['The clean-up: units restored, of the units due', '清理任务：归还的件数，和到期的件数'],
  figure: ({ restored, due }) =>
    restored === undefined || due === undefined
      ? undefined
      : either(`${formatNumber(restored)} of ${formatNumber(due)}`, `${formatNumber(restored)} / ${formatNumber(due)}`),
  row: (guard) => ({ story: `${jobs}/${guard}.ts`, ...rows[guard] }),
});
