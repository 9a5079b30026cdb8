// Which cells of the staircase `npm test` runs, of the drills that go step by step. `npm run staircase -- --beyond` runs all.

import { stepDrills } from '../../../loadtest/drills/index.ts';
import type { StepDrill } from '../../../loadtest/harness/step-drill.ts';

/**
 * A sign for each of these drills, in their order:
 * ✔ and ✘ are run, and come out so. A blank of the staircase that is run comes out as its lock makes it.
 * w is run, and holds because nobody else gets in: the lock is never given up, and everybody waits.
 * f is run by figures.test.ts, which looks at its figures as well.
 * · is not run here: another cell shows the same of the drill, and another one the same of the lock.
 * – has nothing to break.
 *
 * Run are: each drill with the last stage that fails it and the first that holds; stage 8 with every drill; each kind of verdict
 * that a drill can come to; every ✘ that is drawn; what a strategy fixes of stage 8; and each drill with each kind of lock.
 */
export const chosen: Record<string, string> = {
  '0-none': '–··–··✘✘✘·–',
  '1-in-process': '–✔✘–✘·····✔',
  '2-recursive-retry': 'f✘·w·✔ff···',
  '3-spin': 'fff·····✘··',
  '4-ttl': '·ff✘·······',
  '5-owner-check': '··ff·✘·✘··✔',
  '6-lua-release': '···ff·✘····',
  '7-reentrant': '····ff··✘··',
  '8-auto-renew': '✔✔✔✔✔ffffff',
  blocking: '–✔·✔··✘✘✘·✔',
  fair: '–✔✔·✔·✘✘✘✔·',
  cohort: '–✔···✔✘✘✘✔✔',
  fenced: '··✔···✔✔✘··',
  redlock: '✔✔✔✔✔✔✔✘✔✔✔',
  'mysql-lock-table': '–✔·–·✔✔✘✔··',
  'mysql-named': '–·✔–✔·✔✘✔·✔',
  'mysql-pessimistic': '–✔✔––·✔–––✔',
  'mysql-optimistic': '–·–––✔✔––––',
  'mysql-conditional': '–✔–––·✔––––',
  zookeeper: '–✔✔–✔✔✔✔✔✔✔',
  'redis-atomic': '–✔–––·✔✔✔✔–',
};

/** Locks that keep others out in the same way. */
export const kindsOfLock: Record<string, string[]> = {
  'asks Redis again and again': [
    '3-spin',
    '4-ttl',
    '5-owner-check',
    '6-lua-release',
    '7-reentrant',
    '8-auto-renew',
    'fenced',
  ],
  'waits in a queue, to be woken': ['blocking', 'fair', 'cohort'],
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
    stepDrills.map((drill, at) => ({ drill, name: drill.name, stage, sign: chosen[stage]?.[at] ?? '' })),
  );
}

/** True where the file of the cells is to run it. */
export const isRun = ({ sign }: ChosenCell) => /^[✔✘w]$/.test(sign);
