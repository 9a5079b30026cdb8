// What a drill that came out says of a published lock: whether it keeps what it promises.

import type { DrillResult } from '../evidence/results.ts';
import type { LockRecord } from '../evidence/verdicts.ts';
import { keyFigure } from '../report/cells.ts';

/** `broken`: it fails what it promises; `beyond`: it fails what it does not promise. */
export type Standing = 'holds' | 'broken' | 'beyond' | 'unknown' | 'not-applicable';

/** What the cell means for this lock. */
export function standingOf({ doesNotPromise }: LockRecord, { drill, verdict }: DrillResult): Standing {
  if (verdict === 'pass') return 'holds';
  if (verdict !== 'fail') return verdict;
  return Object.hasOwn(doesNotPromise, drill) ? 'beyond' : 'broken';
}

/** The drills of a lock that stand so. */
export function drillsThat(record: LockRecord, standing: Standing): DrillResult[] {
  return record.drills.filter((result) => standingOf(record, result) === standing);
}

export const signs: Record<Standing, string> = {
  holds: '✔',
  broken: '✘',
  beyond: '(✘)',
  unknown: '?',
  'not-applicable': '–',
};

/** The figure that says most about a cell, or an empty text. */
export function figureOf(result: DrillResult): string {
  return keyFigure(result) ?? '';
}

/** `redlock 5.0.0-beta.2`, `redis-semaphore 5.8.0 Mutex`: no library is named without its version. */
export function titleOf({ library, version, lock }: LockRecord): string {
  return `${library} ${version}${lock === undefined ? '' : ` ${lock}`}`;
}

/** True for a check of the contract, which is no drill. */
export const isCheck = (name: string) => name.startsWith('contract-');

/** How many of the drills that apply hold, or of the checks: `12 of 17`. */
export function countOfHolds(record: LockRecord, isMeant = (name: string) => !isCheck(name)): string {
  const applied = record.drills.filter(({ drill, verdict }) => isMeant(drill) && verdict !== 'not-applicable');
  return `${applied.filter(({ verdict }) => verdict === 'pass').length} of ${applied.length}`;
}
