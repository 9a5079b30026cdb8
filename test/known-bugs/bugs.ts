import { join } from 'node:path';
import type { Promises } from '../../loadtest/evidence/promises.ts';
import { editsIn, readBlocks } from '../edits.ts';
import type { KnownBug, LockToGrade } from './known-bug.ts';

/** Locks with nothing wrong: none of them may fail what it promises. Each bug is compared with the one that it was put into. */
const right: [name: string, lock: string, promises: Promises][] = [
  ['control-plain', 'test/known-bugs/correct.ts', { renewal: true }],
  ['control-auto-renew', 'locks/8-auto-renew.ts', { reentry: true, renewal: true }],
  ['control-lua-release', 'locks/6-lua-release.ts', {}],
  ['control-blocking', 'locks/beyond/blocking.ts', { reentry: true, renewal: true }],
  ['control-fair', 'locks/beyond/fair.ts', { reentry: true, renewal: true, fairness: 'order' }],
  ['control-cohort', 'locks/beyond/cohort.ts', { renewal: true, fairness: 'bounded' }],
  ['control-semaphore', 'locks/beyond/semaphore.ts', { renewal: true, permits: true }],
  ['control-hash-semaphore', 'test/known-bugs/hash-semaphore.ts', { renewal: true, permits: true }],
  ['control-fenced', 'locks/beyond/fenced.ts', { reentry: true, renewal: true, fencing: true }],
];
export const controls = right.map(([name, lock, promises]): LockToGrade => ({ name, lock, promises, changes: [] }));

/** What a bug has besides its block in bugs.txt. */
const more: Record<string, Partial<KnownBug>> = {
  'stage-5': { promises: {}, control: 'control-lua-release' },
  'token-checked-at-writes-only': { control: 'control-fenced' },
  'last-in-first-out': { promises: { reentry: true, renewal: true, fairness: 'order' } },
};

export const knownBugs: KnownBug[] = readLocks('bugs.txt');
/** Locks that look as if they had such a bug: what catches it finds nothing. */
export const twins: KnownBug[] = readLocks('twins.txt');

function readLocks(file: string): KnownBug[] {
  return readBlocks(join(import.meta.dirname, file)).map(([head = '', why = '', ...lines]) => {
    const [name = '', lock = '', caughtBy = ''] = head.split(' · ');
    return { name, lock, why, caughtBy, changes: editsIn(lines), ...more[name] };
  });
}

/** The lock without the bug. */
function controlOf({ lock, control }: LockToGrade): LockToGrade {
  const same = controls.find((each) => (control === undefined ? each.lock === lock : each.name === control));
  const [plain] = controls;
  if (plain === undefined) throw new Error('There is no control.');
  return same ?? plain;
}

/** What a lock says of itself: what it was before the bug was put into it, unless it says otherwise. */
export const promisesOf = (bug: LockToGrade): Promises => bug.promises ?? controlOf(bug).promises ?? {};
