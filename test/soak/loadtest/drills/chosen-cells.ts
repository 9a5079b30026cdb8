// Which cells of the staircase `npm test` runs, of the drills that go step by step. `npm run staircase -- --beyond` runs all.

import { stepDrills } from '../../../../loadtest/drills/index.ts';
import type { StepDrill } from '../../../../loadtest/harness/step-drill.ts';
import { readTable } from '../../../../loadtest/staircase/table.ts';
import { strategies } from '../../../../locks/index.ts';

/**
 * Which cells run, and where:
 * ✔ and ✘ are run, and come out so. A blank of the staircase that is run comes out as its lock makes it.
 * w is run, and holds because nobody else gets in: the lock is never given up, and everybody waits.
 * f is run by figures.test.ts, which looks at its figures as well.
 * · is not run here: another cell shows the same of the drill, and another one the same of the lock.
 * – has nothing to break.
 *
 * Run are: each drill with the last stage that fails it and the first that holds; stage 8 with every drill; each kind of verdict
 * that a drill can come to; what a strategy fixes of stage 8, and what it alone fails; what it fails as stage 8 does, once for
 * each kind of lock; and each drill with each kind of lock.
 */
const table = `
                   long-wait
                   │  crashed-holder
                   │  │  hung-holder
                   │  │  │  slow-holder
                   │  │  │  │  late-release
                   │  │  │  │  │  nested-call
                   │  │  │  │  │  │  long-sale
                   │  │  │  │  │  │  │  paused-process
                   │  │  │  │  │  │  │  │  blocked-loop
                   │  │  │  │  │  │  │  │  │  partition
                   │  │  │  │  │  │  │  │  │  │  late-write
                   │  │  │  │  │  │  │  │  │  │  │  crossed-write
                   │  │  │  │  │  │  │  │  │  │  │  │  late-batch
                   │  │  │  │  │  │  │  │  │  │  │  │  │  early-read
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  crossed-skus
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  failover
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  forgotten-sale
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  wrong-replica
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  redis-outage
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  client-gone
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  starvation
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  overtaking
0-none             –  ·  ·  ·  –  ·  ·  ✘  ·  ·  ✘  ·  –  –  –  ✘  ·  –  ·  –  –  –
1-in-process       –  ✔  ·  ✘  –  ✘  ·  ·  ·  ·  ·  ✘  –  –  –  ·  ·  –  ·  ✔  –  –
2-recursive-retry  f  ✘  ·  ·  w  ·  ✔  f  ·  ·  f  f  –  –  –  ·  ·  –  ·  ·  ·  ·
3-spin             f  f  ·  f  ·  ·  ·  ·  w  ·  ·  ·  –  –  –  ✘  ✘  –  ·  ·  ·  ·
4-ttl              ·  f  ✔  f  ✘  ·  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ·  ·  ·
5-owner-check      ·  ·  ·  f  f  ·  ✘  ·  ·  ·  ✘  ·  –  –  –  ·  ·  –  ·  ✔  ·  ·
6-lua-release      ·  ·  ·  ·  f  f  ·  ✘  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ·  ·  ·
7-reentrant        ·  ·  ·  ·  ·  f  f  ·  ·  ·  ·  ✘  –  –  –  ✘  ·  –  ·  ·  ·  ·
8-auto-renew       ✔  ✔  f  ✔  ✔  ✔  f  f  f  f  f  f  –  –  –  f  ✘  –  f  f  f  f

delete-if-equal    ·  ·  ✔  ·  ✔  ✘  ·  ·  ·  ·  ·  ·  –  –  –  ·  ·  –  ·  ·  ·  ·
bounded            ·  ·  ✔  ·  ·  ·  ✘  ·  ·  ✔  ·  ·  –  –  –  ·  ·  –  ·  ·  ·  ·
blocking           –  ✔  ✘  ·  ✔  ·  ·  ✘  ·  ✔  ·  ✘  –  –  –  ·  ·  –  ·  ✔  ✘  ✘
fair               –  ·  ·  ✔  ·  ✔  ·  ·  ·  ✔  ✘  ·  –  –  –  ·  ✘  –  ·  ·  ✔  ✔
cohort             –  ·  ·  ·  ·  ·  ✔  ·  ✘  ✔  ·  ·  –  –  –  ✘  ·  –  ✔  ·  ✔  ✘
combine            –  ·  ·  ·  ·  –  ·  ✔  ✔  ✔  ✔  ✔  ✘  –  –  ·  ·  –  ✔  ·  ✔  ·
read-write         ·  ✔  ·  ·  ✔  ✔  ·  ✘  ·  ✔  ·  ·  –  ✔  –  ·  ·  –  ·  ✔  ·  ·
fenced-writes      ·  ·  ·  ·  ·  ·  ·  ✔  ✔  ✔  ✔  ✘  –  –  –  ·  ·  –  ·  ·  ·  ·
fenced             ·  ·  ·  ✔  ·  ·  ·  ✔  ✔  ✔  ✔  ✔  –  –  –  ·  ·  –  ·  ·  ·  ·
buckets            ·  ·  ·  ·  ·  –  ·  ✔  ✔  ✔  ✔  ✔  –  –  –  ·  ·  –  ·  ·  ·  ·
multi              ·  ·  ·  ·  ·  ·  ·  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ·  ·  –  ·  ·  ·  ·
replicated         ·  ·  ·  ·  ·  ·  ·  ·  ·  ✔  ·  ·  –  –  –  ✔  ✔  ✘  ✔  ·  ·  ·
redlock            ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  –  –  –  ✔  ✘  –  ✔  ✔  ✘  ✘
mysql-lock-table   –  ✔  ✘  ·  –  ·  ✔  ✔  ✔  ✔  ✘  ·  –  –  –  ✔  ·  –  ·  ·  ✔  ✔
mysql-named        –  ·  ·  ✔  –  ✔  ·  ✔  ✔  ✔  ·  ✘  –  –  –  ✔  ✘  –  ·  ✔  ✔  ✔
mysql-pessimistic  –  ✔  ✘  ✔  –  –  ·  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ✔  –  ✔  ✔  ✔
mysql-optimistic   –  ·  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ·  –  –  –  –
mysql-conditional  –  ·  ✔  –  –  –  ·  ✔  ✔  ✔  –  –  –  –  –  –  ✔  ·  –  –  –  –
zookeeper          –  ✔  ✘  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✔  ✘  –  ✔  ✔  ✔  ✔
redis-atomic       –  ·  ✔  –  –  –  ·  ✔  ✔  ✔  ✔  –  –  –  –  ✔  ✘  –  ✔  –  –  –
`;

/** The signs of each stage and strategy, by the names of the drills. */
const { rows: chosen } = readTable(table, {
  columns: stepDrills.map(({ name }) => name),
  rows: Object.keys(strategies),
  signs: ['✔', '✘', 'w', 'f', '·', '–'],
});

/** Locks that keep others out in the same way. */
export const kindsOfLock: Record<string, string[]> = {
  'asks Redis again and again': [
    '3-spin',
    '4-ttl',
    '5-owner-check',
    '6-lua-release',
    '7-reentrant',
    '8-auto-renew',
    'delete-if-equal',
    'bounded',
    'read-write',
    'fenced-writes',
    'fenced',
    'buckets',
    'multi',
    'replicated',
  ],
  'waits in a queue, to be woken': ['blocking', 'fair', 'cohort', 'combine'],
  'asks several masters for their votes': ['redlock'],
  'is in another server than the stock': ['zookeeper', 'mysql-lock-table', 'mysql-named'],
  'leaves it to one command or transaction': [
    'mysql-pessimistic',
    'mysql-optimistic',
    'mysql-conditional',
    'redis-atomic',
  ],
};

export interface ChosenCell {
  drill: StepDrill;
  name: string;
  stage: string;
  sign: string;
}

/** The cells of these stages, with their signs. */
export function cellsOf(stages: string[]): ChosenCell[] {
  return stages.flatMap((stage) =>
    stepDrills.map((drill) => ({ drill, name: drill.name, stage, sign: chosen[stage]?.[drill.name] ?? '' })),
  );
}

/** True where the file of the cells is to run it. */
export const isRun = ({ sign }: ChosenCell) => /^[✔✘w]$/.test(sign);
